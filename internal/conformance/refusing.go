package conformance

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// Bad input is a clear error from the first call that can give one, and touches nothing.
var refusing = rules{
	"BadNamesAreRefused": func(t *stage) {
		c := t.client()
		for name, message := range map[string]string{
			"": "empty",
			t.name + strings.Repeat("x", lua.MaxNameLength): "long",
			"}" + t.name: "braces",
		} {
			t.requireRefused(t.kind.New(c, name), message)
		}
		t.requireUntouched()
	},

	"BadOptionsOfALockAreRefused": func(t *stage) {
		c := t.client()
		for message, opt := range map[string]lock.Option{
			"TTL of 0s":       lock.WithTTL(0),
			"TTL of -1s":      lock.WithTTL(-time.Second),
			"TTL of 2ms":      lock.WithTTL(2 * time.Millisecond), // what the drift leaves is nothing
			"TTL of 24h0m0s":  lock.WithTTL(24 * time.Hour),       // a token must outlive it
			"max hold is -1s": lock.WithMaxHold(-time.Second),
			"nil":             nil,
		} {
			t.requireRefused(t.on(c, opt), message)
		}
		t.requireUntouched()
	},

	"LeastTTLThatIsNotRefusedCanBeHeld": func(t *stage) {
		// One millisecond is left of it after the drift: too short for many a machine,
		// but what comes then is no refusal.
		c := t.client(lock.WithClockDrift(0, 2*time.Millisecond), lock.WithoutWatchdog())
		lease, err := t.on(c, lock.WithTTL(3*time.Millisecond)).TryLock(bg)
		if err == nil {
			require.False(t, lease.Deadline().After(time.Now().Add(time.Millisecond)))
			t.requireLost(lease)
		} else {
			require.NotContains(t, err.Error(), "too short")
		}
	},

	"ClientThatIsNilIsRefused": func(t *stage) {
		t.requireRefused(t.on(nil), "nil")
	},

	"BadOptionsOfAClientAreRefused": func(t *stage) {
		for message, opt := range map[string]lock.ClientOption{
			"prefix":          lock.WithPrefix(""),
			"node timeout":    lock.WithNodeTimeout(0),
			"drift factor":    lock.WithClockDrift(1, 0),
			"fixed clock":     lock.WithClockDrift(0, -time.Second),
			"restart guard":   lock.WithRestartGuard(-time.Second),
			"TTL of 0s":       lock.WithTTL(0),
			"TTL of 2ms":      lock.WithTTL(2 * time.Millisecond),
			"max hold is -1s": lock.WithMaxHold(-time.Second),
			"nil":             nil,
		} {
			c, err := lock.NewClient(t.redis(), opt)
			require.ErrorContains(t, err, message)
			require.Nil(t, c)
		}
		const century = 100 * 365 * 24 * time.Hour
		for _, opt := range []lock.ClientOption{
			lock.WithNodeTimeout(century), lock.WithTokenRetention(century), lock.WithRestartGuard(century),
			lock.WithMaxHold(century), lock.WithWaiterHeartbeat(century),
		} {
			c, err := lock.NewClient(t.redis(), opt)
			require.ErrorContains(t, err, "must not be more than 87600h0m0s")
			require.Nil(t, c)
		}
		c, err := lock.NewClient(t.redis(), lock.WithTTL(century))
		require.ErrorContains(t, err, "too long")
		require.Nil(t, c)
	},

	"BadNodesAreRefused": func(t *stage) {
		none, err := lock.NewClient(nil)
		require.ErrorContains(t, err, "no nodes")
		require.Nil(t, none)

		_, err = lock.NewClient(append(t.redis(), nil))
		require.ErrorContains(t, err, "nil client")
		var typed *redis.Client
		_, err = lock.NewClient(append(t.redis(), typed))
		require.ErrorContains(t, err, "nil client")

		nodes := t.redis()
		_, err = lock.NewClient(append(nodes, nodes[0]))
		require.ErrorIs(t, err, redlock.ErrDuplicateNode)
		_, err = lock.NewClient(append(nodes, t.nodes[0].connect()), lock.WithNodeTimeout(patience))
		require.ErrorIs(t, err, redlock.ErrDuplicateNode, "one server is one vote, by whatever client")
	},
}

// requireRefused has every method refuse, and without doing anything.
func (t *stage) requireRefused(l Mutex, message string) {
	t.Helper()
	refused := func(err error) {
		t.Helper()
		require.ErrorContains(t, err, message)
		require.NotErrorIs(t, err, lock.ErrLocked)
	}
	ctx, cancel := context.WithTimeout(bg, within)
	defer cancel()
	lease, err := l.Lock(ctx)
	refused(err)
	require.Nil(t, lease)
	lease, err = l.TryLock(bg)
	refused(err)
	require.Nil(t, lease)
	refused(l.Do(ctx, func(context.Context) error {
		t.Error("it works without the lock")
		return nil
	}))
	_, err = l.Inspect(bg)
	refused(err)
	_, err = l.ForceUnlock(bg)
	refused(err)
}

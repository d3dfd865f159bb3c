package reentrant_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// The unlock of an owner's only lease races with its re-entry. By then another has had
// the lock: the re-entry must not find it free and take it, for the old hold.
func TestReentryThatRacesTheLastUnlockTakesNoFreeLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	alice := newClient(t, []redis.UniversalClient{s.Client(t)})
	bob := newClient(t, []redis.UniversalClient{s.Client(t)})
	for i := range 200 {
		name := fmt.Sprint("orders ", i)
		ctx := lock.WithOwner(bg)
		orders := reentrant.New(alice, name)
		lost, err := orders.Lock(ctx)
		require.NoError(t, err)
		require.NoError(t, s.Client(t).Del(bg, "lock:{"+name+"}").Err())
		other, err := try(t, reentrant.New(bob, name))
		require.NoError(t, err)
		require.NoError(t, other.Unlock(bg))

		again := reenterWhileUnlocking(ctx, orders, lost)
		if again != nil {
			revived := s.Client(t).HExists(bg, "lock:{"+name+"}", lost.ID()).Val()
			require.False(t, revived, "an old hold was revived")
			_ = again.Unlock(bg)
		}
	}
}

// A node that never had the hold does not get it by a re-entry: nobody would clean it up.
func TestReentryThatRacesTheLastUnlockLeavesNothingOnANodeThatCameBack(t *testing.T) {
	t.Parallel()
	const names = 150
	r := newRig(t, 3)
	c := r.client(t)
	r.servers[2].Kill()
	ctx := lock.WithOwner(bg)
	var mutexes []*reentrant.Mutex
	var leases []*lock.Lease
	for i := range names {
		m := reentrant.New(c, fmt.Sprint("orders ", i))
		l, err := m.Lock(ctx)
		require.NoError(t, err)
		mutexes, leases = append(mutexes, m), append(leases, l)
	}
	r.servers[2].Start()
	back := r.servers[2].Client(t)
	redistest.Eventually(t, within, func() bool {
		l, err := reentrant.New(c, "warm up").TryLock(bg)
		if err != nil {
			return false
		}
		defer func() { _ = l.Unlock(bg) }()
		return back.Exists(bg, "lock:{warm up}").Val() == 1
	}, "the node votes again")
	for i, l := range leases {
		if again := reenterWhileUnlocking(ctx, mutexes[i], l); again != nil {
			require.NoError(t, again.Unlock(bg))
		}
	}
	for i := range names {
		key := fmt.Sprintf("lock:{orders %d}", i)
		redistest.Eventually(t, within, func() bool { return back.Exists(bg, key).Val() == 0 }, "%s is gone", key)
	}
}

// reenterWhileUnlocking unlocks l and locks m at once. It returns what Lock has.
func reenterWhileUnlocking(ctx context.Context, m *reentrant.Mutex, l *lock.Lease) *lock.Lease {
	var again *lock.Lease
	var both sync.WaitGroup
	start := make(chan struct{})
	both.Go(func() {
		<-start
		_ = l.Unlock(bg)
	})
	both.Go(func() {
		<-start
		again, _ = m.Lock(ctx)
	})
	close(start)
	both.Wait()
	return again
}

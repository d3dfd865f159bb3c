package conformance

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// The settings of a lock, and of its client.
var options = rules{
	"TTLIsHalfAMinuteByDefault": func(t *stage) {
		l := t.locker()
		lease := t.acquire(bg, l)
		require.WithinRange(t, lease.Deadline(), time.Now().Add(20*time.Second), time.Now().Add(30*time.Second))
		ttl := t.inspect(l).TTL
		require.Greater(t, ttl, 20*time.Second)
		require.LessOrEqual(t, ttl, 30*time.Second)
		t.unlock(lease)
	},

	"OptionOfTheClientIsTheDefaultOfItsLocks": func(t *stage) {
		c := t.client(lock.WithTTL(shortTTL), lock.WithoutWatchdog())
		lease := t.acquire(bg, t.on(c))
		require.LessOrEqual(t, t.inspect(t.on(c)).TTL, shortTTL)
		t.requireLost(lease)
	},

	"OptionOfALockIsStrongerThanItsClients": func(t *stage) {
		c := t.client(lock.WithTTL(time.Minute))
		long, short := t.on(c), t.named(c, t.name+" b", lock.WithTTL(10*time.Second))
		first, second := t.acquire(bg, long), t.acquire(bg, short)
		require.Greater(t, t.inspect(long).TTL, 30*time.Second)
		require.LessOrEqual(t, t.inspect(short).TTL, 10*time.Second)
		t.unlock(first, second)
	},

	"LaterOptionIsStronger": func(t *stage) {
		l := t.locker(lock.WithTTL(time.Minute), lock.WithTTL(10*time.Second))
		lease := t.acquire(bg, l)
		require.LessOrEqual(t, t.inspect(l).TTL, 10*time.Second)
		t.unlock(lease)
	},

	"LossIsLogged": func(t *stage) {
		var log text
		c := t.client(lock.WithTTL(shortTTL), lock.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		lease := t.acquire(bg, t.on(c))
		t.lose()
		t.requireLost(lease)
		t.eventually(func() bool { return strings.Contains(log.String(), lease.ID()) }, "the hold is named")
		require.Contains(t, log.String(), t.name)
	},
}

// text is what was written, by whatever goroutine.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (w *text) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *text) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

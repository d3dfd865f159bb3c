package semaphore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

const (
	// within bounds what should happen soon. Generous: the machine may be busy.
	within = time.Minute
	// promptly is far below the heartbeat of calm.
	promptly = 10 * time.Second
	// briefly is long enough for what must not happen to show.
	briefly = 150 * time.Millisecond
)

// calm keeps heartbeats out of a test that is not about them.
var calm = lock.WithWaiterHeartbeat(time.Minute)

// A rig is the nodes of one semaphore, and a count of who has which slot.
type rig struct {
	servers []*redistest.Server // nil: they are embedded, or a Cluster
	connect func(testing.TB) []redis.UniversalClient
	name    string
	watch   *watch
}

func newRig(t *testing.T, n int) *rig {
	t.Helper()
	servers := redistest.StartN(t, n)
	return &rig{servers: servers, name: "limit", watch: new(watch), connect: func(t testing.TB) []redis.UniversalClient {
		return redistest.Clients(t, servers)
	}}
}

// everywhere runs a test on each deployment.
func everywhere(t *testing.T, test func(*testing.T, *rig)) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) { test(t, newRig(t, n)) })
	}
	t.Run("embedded", func(t *testing.T) {
		m := miniredis.NewMiniRedis()
		m.ClockTTL(true)
		require.NoError(t, m.Start())
		t.Cleanup(m.Close)
		test(t, &rig{name: "limit", watch: new(watch), connect: func(t testing.TB) []redis.UniversalClient {
			c := redis.NewClient(&redis.Options{Addr: m.Addr()})
			t.Cleanup(func() { _ = c.Close() })
			return []redis.UniversalClient{c}
		}})
	})
	t.Run("cluster", func(t *testing.T) {
		cluster := redistest.StartCluster(t)
		test(t, &rig{name: "limit", watch: new(watch), connect: func(t testing.TB) []redis.UniversalClient {
			return []redis.UniversalClient{cluster.Client(t)}
		}})
	})
}

// client makes a lock client, as a process of its own would have.
func (r *rig) client(t testing.TB, opts ...lock.ClientOption) *lock.Client {
	t.Helper()
	c, err := lock.NewClient(r.connect(t), append([]lock.ClientOption{lock.WithNodeTimeout(3 * time.Second)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// semaphore makes one of a client of its own.
func (r *rig) semaphore(t testing.TB, permits int, opts ...lock.Option) *semaphore.Semaphore {
	t.Helper()
	return semaphore.New(r.client(t), r.name, permits, append([]lock.Option{calm}, opts...)...)
}

// keys are those of the semaphore on all nodes, but for the counters and void marks.
func (r *rig) keys(t testing.TB) (all []string) {
	t.Helper()
	for _, c := range r.connect(t) {
		scan := func(c redis.UniversalClient) {
			keys, err := c.Keys(bg, "*").Result()
			require.NoError(t, err)
			for _, key := range keys {
				if !strings.HasSuffix(key, ":token") && !strings.HasSuffix(key, ":void") {
					all = append(all, key)
				}
			}
		}
		if cluster, ok := c.(*redis.ClusterClient); ok {
			require.NoError(t, cluster.ForEachMaster(bg, func(_ context.Context, c *redis.Client) error { scan(c); return nil }))
			continue
		}
		scan(c)
	}
	return all
}

func (r *rig) requireNoKeys(t testing.TB) {
	t.Helper()
	redistest.Eventually(t, within, func() bool { return len(r.keys(t)) == 0 }, "no key stays")
}

// requireWaiting waits until so many stand in the queue.
func requireWaiting(t testing.TB, s *semaphore.Semaphore, n int) {
	t.Helper()
	redistest.Eventually(t, within, func() bool {
		state, err := s.Inspect(bg)
		return err == nil && len(state.Queue) == n
	}, "%d wait", n)
}

// acquire waits for permits, in the background.
func acquire(ctx context.Context, s *semaphore.Semaphore, n int) <-chan result {
	done := make(chan result, 1)
	go func() {
		p, err := s.Acquire(ctx, n)
		done <- result{p, err}
	}()
	return done
}

type result struct {
	permit *semaphore.Permit
	err    error
}

func requireGranted(t testing.TB, done <-chan result) *semaphore.Permit {
	t.Helper()
	select {
	case r := <-done:
		require.NoError(t, r.err)
		return r.permit
	case <-time.After(promptly):
		require.Fail(t, "not granted")
		return nil
	}
}

func requireWaits(t testing.TB, done <-chan result) {
	t.Helper()
	select {
	case r := <-done:
		require.Fail(t, "it should wait", "%v %v", r.permit.Slots(), r.err)
	case <-time.After(briefly):
	}
}

func take(t testing.TB, s *semaphore.Semaphore, n int) *semaphore.Permit {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, promptly)
	defer cancel()
	p, err := s.Acquire(ctx, n)
	require.NoError(t, err)
	return p
}

func release(t testing.TB, all ...*semaphore.Permit) {
	t.Helper()
	for _, p := range all {
		require.NoError(t, p.Release(bg))
	}
}

// work is what a holder does: it takes some time up to d. No test relies on how much.
func work(d time.Duration) {
	<-time.After(rand.N(d))
}

// A watch counts, at every instant, who has which slot.
type watch struct {
	mu       sync.Mutex
	holders  map[int]string
	tokens   map[int64]bool
	last     map[int]int64 // token by slot
	most     int
	problems []string
}

func (w *watch) enter(p *semaphore.Permit, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holders == nil {
		w.holders, w.tokens, w.last = make(map[int]string), make(map[int64]bool), make(map[int]int64)
	}
	if w.tokens[p.Token()] {
		w.problems = append(w.problems, fmt.Sprintf("token %d twice", p.Token()))
	}
	w.tokens[p.Token()] = true
	if len(p.Slots()) != n {
		w.problems = append(w.problems, fmt.Sprintf("%v are not %d slots", p.Slots(), n))
	}
	for _, slot := range p.Slots() {
		if other, taken := w.holders[slot]; taken {
			w.problems = append(w.problems, fmt.Sprintf("slot %d is %s's and %s's", slot, other, p.ID()))
		}
		if w.last[slot] >= p.Token() {
			w.problems = append(w.problems, fmt.Sprintf("slot %d: token %d after %d", slot, p.Token(), w.last[slot]))
		}
		w.holders[slot], w.last[slot] = p.ID(), p.Token()
	}
	w.most = max(w.most, len(w.holders))
}

func (w *watch) leave(p *semaphore.Permit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, slot := range p.Slots() {
		delete(w.holders, slot)
	}
}

// requireSound requires that no slot had two holders, and that no more than so many were taken at once.
func (w *watch) requireSound(t testing.TB, most int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.Empty(t, w.problems)
	require.LessOrEqual(t, w.most, most)
}

// requireMore waits until so many more permits have been granted.
func (w *watch) requireMore(t testing.TB, n int) {
	t.Helper()
	before := w.granted()
	redistest.Eventually(t, within, func() bool { return w.granted() >= before+n }, "%d more are granted", n)
}

// granted counts the permits that were granted so far.
func (w *watch) granted() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.tokens)
}

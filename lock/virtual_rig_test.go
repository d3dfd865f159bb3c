package lock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/reentrant"
)

// The tests in virtual_*_test.go run in virtual time: a command takes none unless a
// test says so, hence what they state about times is exact.

// What the settings are when a test sets none.
const (
	defaultTTL         = 30 * time.Second
	defaultNodeTimeout = 200 * time.Millisecond
	defaultRetention   = 24 * time.Hour
	// slack is how much earlier the watchdog may renew, to fill a batch.
	slack = 2 * time.Millisecond
	// pollBound is what a lost wake-up may cost.
	pollBound = 3 * time.Second
	// maxReign is what a process passes on to itself while others wait.
	maxReign = 50 * time.Millisecond
	// long is many TTLs.
	long = 20 * time.Minute
)

var (
	bg   = context.Background()
	keys = func() lua.Keys {
		k, err := lua.NewKeys("lock", "orders")
		if err != nil {
			panic(err)
		}
		return k
	}()
	acquireRuns = runs(lua.Acquire{})
	extendRuns  = runs(lua.Extend{})
	releaseRuns = runs(lua.Release{})
)

func runs(c interface{ Call() lua.Call }) func([]string) bool {
	return virtual.Script(c.Call().Script().SHA)
}

// drift is what is taken off a TTL for clocks that run apart.
func drift(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// validity is how long what was written with ttl can be relied on.
func validity(ttl time.Duration) time.Duration { return ttl - drift(ttl) }

// A world is a set of nodes in virtual time.
type world struct {
	t     *testing.T
	nodes []*virtual.Node
}

// inVirtualTime runs f in worlds of so many nodes each.
func inVirtualTime(t *testing.T, sizes []int, f func(t *testing.T, w *world)) {
	t.Helper()
	for _, n := range sizes {
		t.Run(fmt.Sprintf("N=%d", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{t: t, nodes: virtual.StartN(t, n)}
				w.loadScripts()
				f(t, w)
			})
		})
	}
}

// loadScripts has the nodes know every script, so that each call is one round trip.
func (w *world) loadScripts() {
	for _, n := range w.nodes {
		for _, s := range []interface{ Call() lua.Call }{
			lua.Acquire{}, lua.Release{}, lua.Extend{}, lua.Fence{}, lua.Reserve{}, lua.Repair{}, lua.Restore{}, lua.Inspect{}, lua.Deaf{}, lua.Far{}, lua.Force{}, lua.Forced{}, lua.Note{}, lua.Keep{}, lua.Probe{}, lua.Holds{},
			lua.FairAcquire{}, lua.FairRelease{}, lua.FairYield{}, lua.FairSettle{}, lua.FairBeat{},
		} {
			n.Load(s.Call().Script().Source)
		}
	}
}

// quorum returns as many nodes as decide: the last ones.
func (w *world) quorum() []*virtual.Node { return w.nodes[len(w.nodes)-len(w.nodes)/2-1:] }

// minority returns the other ones.
func (w *world) minority() []*virtual.Node { return w.nodes[:len(w.nodes)-len(w.nodes)/2-1] }

func each(nodes []*virtual.Node, f func(*virtual.Node)) {
	for _, n := range nodes {
		f(n)
	}
}

// requireHolder requires that every one of nodes has the hold called id; "" is free.
func requireHolder(t *testing.T, id string, nodes []*virtual.Node) {
	t.Helper()
	for _, n := range nodes {
		holder, _ := n.Holder(keys.Lock)
		require.Equal(t, id, holder, n.Addr())
	}
}

// A process is one lock client on a host of its own.
type process struct {
	*virtual.Host
	locks *lock.Client
}

// process starts a process, which is closed before the bubble ends.
func (w *world) process(opts ...lock.ClientOption) *process {
	w.t.Helper()
	return w.processOn(virtual.NewHost(w.nodes), opts...)
}

func (w *world) processOn(h *virtual.Host, opts ...lock.ClientOption) *process {
	w.t.Helper()
	return w.probing(h, append([]lock.ClientOption{lock.WithoutProbe()}, opts...)...)
}

// probing is processOn, but nodes are probed while something is held.
func (w *world) probing(h *virtual.Host, opts ...lock.ClientOption) *process {
	w.t.Helper()
	c, err := lock.NewClient(h.Clients(w.t), opts...)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = c.Close() }) // its error is for tests that are about Close
	synctest.Wait()                       // it has met the nodes, unless that takes time
	return &process{Host: h, locks: c}
}

func (p *process) mutex(opts ...lock.Option) *reentrant.Mutex {
	return reentrant.New(p.locks, "orders", opts...)
}

func reentrantAt(p *process, name string) *reentrant.Mutex { return reentrant.New(p.locks, name) }

func (p *process) queue(opts ...lock.Option) *fair.Mutex {
	return fair.New(p.locks, "orders", opts...)
}

// lock takes the mutex, which must be free.
func (w *world) lock(m lock.Locker) *lock.Lease {
	w.t.Helper()
	return w.lockIn(bg, m)
}

// lockIn is lock under ctx, whose owner may have the mutex.
func (w *world) lockIn(ctx context.Context, m lock.Locker) *lock.Lease {
	w.t.Helper()
	l, err := m.TryLock(ctx)
	require.NoError(w.t, err)
	synctest.Wait() // every node that answers has it by now, not just a quorum
	return l
}

// A grant is what a blocked Lock has come to.
type grant struct {
	lease *lock.Lease
	err   error
	at    time.Time
}

// wait has another goroutine Lock.
func wait(ctx context.Context, m lock.Locker) <-chan grant {
	c := make(chan grant, 1)
	go func() {
		l, err := m.Lock(ctx)
		c <- grant{lease: l, err: err, at: time.Now()}
	}()
	return c
}

// shutDown has p wait until none of its locks is held.
func (p *process) shutDown(t testing.TB) {
	ctx, cancel := context.WithTimeout(bg, long)
	defer cancel()
	if err := p.locks.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("something is held for ever: %v", err)
	}
}

// await waits for a grant, which must come.
func await(t *testing.T, c <-chan grant) grant {
	t.Helper()
	select {
	case g := <-c:
		return g
	case <-time.After(long):
		require.Fail(t, "it waits on and on")
		return grant{}
	}
}

// after requires that g is granted between from and to, and returns the lease.
func (g grant) after(t *testing.T, start time.Time, from, to time.Duration) *lock.Lease {
	t.Helper()
	require.NoError(t, g.err)
	took := g.at.Sub(start)
	require.GreaterOrEqual(t, took, from)
	require.LessOrEqual(t, took, to)
	return g.lease
}

// awaitEnd waits for the lease's end, which must come: a lease that is renewed has none.
func awaitEnd(t *testing.T, l *lock.Lease) {
	t.Helper()
	select {
	case <-l.Done():
	case <-time.After(time.Until(l.Deadline()) + long):
		require.Fail(t, "the lease goes on")
	}
}

// lostAt waits for the lease's end, and requires that it was lost, that everything
// says so, and that it came at its deadline and not a moment later (I2). It returns
// when that was.
func lostAt(ctx context.Context, t *testing.T, l *lock.Lease) time.Time {
	t.Helper()
	awaitEnd(t, l)
	now := time.Now()
	require.Equal(t, l.Deadline(), now)
	requireLost(ctx, t, l)
	return now
}

func requireLost(ctx context.Context, t *testing.T, l *lock.Lease) {
	t.Helper()
	now := time.Now()
	require.ErrorIs(t, l.Err(), lock.ErrLost)
	<-ctx.Done()
	require.ErrorIs(t, context.Cause(ctx), lock.ErrLost)
	require.Equal(t, now, time.Now(), "all at once")
}

// renewals is when the node was asked to extend the lock.
func renewals(n *virtual.Node) []time.Time {
	var at []time.Time
	for _, c := range n.Commands(extendRuns) {
		at = append(at, c.At)
	}
	return at
}

// requireRenewedEveryThird requires that renewals came at a third of the TTL, less the
// jitter of up to an eighth of that and of half of it for the first, all the way from start
// to end.
func requireRenewedEveryThird(t *testing.T, n *virtual.Node, ttl time.Duration, start, end time.Time) {
	t.Helper()
	third := ttl / 3
	last := start
	for _, at := range renewals(n) {
		require.LessOrEqual(t, at.Sub(last), third, "%s after %v", n.Addr(), last.Sub(start))
		least := third - third/8 - slack
		if last.Equal(start) {
			least -= third / 2
		}
		require.GreaterOrEqual(t, at.Sub(last), least, "%s after %v", n.Addr(), last.Sub(start))
		last = at
	}
	require.LessOrEqual(t, end.Sub(last), third, "%s: the last one", n.Addr())
}

// ofEitherKind runs f over so many nodes with each kind of lock.
func ofEitherKind(t *testing.T, sizes []int, f func(t *testing.T, w *world, of func(*process) lock.Locker)) {
	t.Helper()
	for kind, of := range map[string]func(*process) lock.Locker{
		"reentrant": func(p *process) lock.Locker { return p.mutex() },
		"fair":      func(p *process) lock.Locker { return p.queue() },
	} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, sizes, func(t *testing.T, w *world) { f(t, w, of) })
		})
	}
}

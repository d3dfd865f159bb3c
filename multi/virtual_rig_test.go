package multi_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
)

// The tests in virtual_*_test.go run in virtual time: a command takes none unless a
// test says so, hence what they state about times is exact.

const (
	ttl = 30 * time.Second // unless a test sets another one
	// long is several TTLs.
	long = 3 * time.Minute
	// nearTrip is the round trip to a node so near that one pipeline is on the way at a time.
	nearTrip = 300 * time.Microsecond
)

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
			synctest.Test(t, func(t *testing.T) { f(t, newWorld(t, n)) })
		})
	}
}

// newWorld starts nodes that know every script, so that each call is one round trip.
func newWorld(t *testing.T, n int) *world {
	w := &world{t: t, nodes: virtual.StartN(t, n)}
	for _, n := range w.nodes {
		for _, s := range []interface{ Call() lua.Call }{
			lua.Acquire{}, lua.Release{}, lua.Extend{}, lua.Fence{}, lua.Reserve{}, lua.Repair{}, lua.Restore{}, lua.Inspect{}, lua.Force{}, lua.Forced{}, lua.Note{}, lua.Probe{}, lua.Holds{},
			lua.FairAcquire{}, lua.FairRelease{}, lua.FairYield{}, lua.FairSettle{}, lua.FairBeat{},
		} {
			n.Load(s.Call().Script().Source)
		}
	}
	return w
}

// client is the lock client of another process. It is closed before the bubble ends.
func (w *world) client(opts ...lock.ClientOption) *lock.Client {
	w.t.Helper()
	c, err := lock.NewClient(virtual.NewHost(w.nodes).Clients(w.t), opts...)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = c.Close() }) // its error is for tests that are about Close
	synctest.Wait()                       // it has met the nodes
	return c
}

// near has every node be a short way off.
func (w *world) near() {
	for _, n := range w.nodes {
		n.SetDelay(nearTrip/2, nearTrip/2)
	}
}

// holders are the hold ids that every node has for the names: "" for a free one.
func (w *world) holders(names ...string) []string {
	w.t.Helper()
	time.Sleep(time.Second) // a node that has missed something has it by then
	ids := make([]string, len(names))
	for i, name := range names {
		k, err := lua.NewKeys("lock", name)
		require.NoError(w.t, err)
		for j, n := range w.nodes {
			id, _ := n.Holder(k.Lock)
			if j > 0 {
				require.Equal(w.t, ids[i], id, "%s has another hold of %s than the others", n.Addr(), name)
			}
			ids[i] = id
		}
	}
	return ids
}

// requireFree requires that nobody has any of the names, and that nothing is renewed.
func (w *world) requireFree(names ...string) {
	w.t.Helper()
	require.Equal(w.t, make([]string, len(names)), w.holders(names...))
	before := w.renewals()
	time.Sleep(2 * ttl)
	require.Equal(w.t, before, w.renewals(), "something is renewed")
	require.Equal(w.t, make([]string, len(names)), w.holders(names...))
}

// renewals is how many the nodes were asked for.
func (w *world) renewals() int {
	total := 0
	for _, n := range w.nodes {
		for _, c := range []interface{ Call() lua.Call }{lua.Extend{}, lua.RWExtend{}, lua.PermitExtend{}} {
			total += len(n.Commands(virtual.Script(c.Call().Script().SHA)))
		}
	}
	return total
}

// asked is how many acquisitions the first node was asked for, of either kind of lock: once all that was sent has arrived there,
// which may be after a quorum of the others has answered.
func (w *world) asked() int {
	synctest.Wait()
	return len(w.nodes[0].Commands(virtual.Script(lua.Acquire{}.Call().Script().SHA))) +
		len(w.nodes[0].Commands(virtual.Script(lua.FairAcquire{}.Call().Script().SHA)))
}

// of makes a reentrant mutex for each name.
func of(c *lock.Client, names ...string) []lock.Locker {
	locks := make([]lock.Locker, len(names))
	for i, name := range names {
		locks[i] = reentrant.New(c, name)
	}
	return locks
}

// mixed is of, with fair mutexes for names that begin with every second letter.
func mixed(c *lock.Client, names ...string) []lock.Locker {
	locks := of(c, names...)
	for i, name := range names {
		if name[0]%2 == 0 {
			locks[i] = fair.New(c, name)
		}
	}
	return locks
}

// try takes a lock that must be free.
func try(t *testing.T, c *lock.Client, name string) *lock.Lease {
	t.Helper()
	l, err := reentrant.New(c, name).TryLock(bg)
	require.NoError(t, err)
	synctest.Wait() // every node has it by now
	return l
}

// tryAll takes locks that must be free.
func tryAll(ctx context.Context, t *testing.T, m *multi.Mutex) *multi.Lease {
	t.Helper()
	l, err := m.TryLock(ctx)
	require.NoError(t, err)
	synctest.Wait()
	return l
}

// A grant is what a blocked Lock has come to.
type grant struct {
	lease *multi.Lease
	err   error
	at    time.Time
}

// wait has another goroutine Lock.
func wait(ctx context.Context, m *multi.Mutex) <-chan grant {
	c := make(chan grant, 1)
	go func() {
		l, err := m.Lock(ctx)
		c <- grant{lease: l, err: err, at: time.Now()}
	}()
	return c
}

// blocked is wait for one that has to.
func blocked(ctx context.Context, t *testing.T, m *multi.Mutex) <-chan grant {
	t.Helper()
	c := wait(ctx, m)
	synctest.Wait()
	require.Empty(t, c, "it is over at once")
	return c
}

// await waits for a grant, which must come.
func await(t *testing.T, c <-chan grant) *multi.Lease {
	t.Helper()
	select {
	case g := <-c:
		require.NoError(t, g.err)
		return g.lease
	case <-time.After(long):
		require.Fail(t, "it waits on and on")
		return nil
	}
}

// took is how long f takes.
func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// ids are the hold ids of a lease.
func ids(l *multi.Lease) []string {
	var list []string
	for _, lease := range l.Leases() {
		list = append(list, lease.ID())
	}
	return list
}

package fair_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// A call is one Lock that runs beside the test, in this process or another.
type call struct {
	rig    *rig
	visit  *fifo.Visit
	cancel func()
	unlock func() error // once it has ended with the lock

	done chan struct{} // closed once it has ended
	hold string        // with the lock: the hold's id
	err  error
}

// A party can call Lock: a client in this process, or a program.
type party interface {
	lock(r *rig, name string) *call
}

// here is a client in this process.
type here struct{ client *lock.Client }

func (h here) lock(r *rig, name string) *call { return h.of(r, name, r.mutex(h.client)) }

// apart is here with a TTL of its own for each call, so that none is served within another one's tenure.
type apart struct{ here }

var parted atomic.Int64

func (a apart) lock(r *rig, name string) *call {
	ttl := time.Minute + time.Duration(parted.Add(1))*time.Millisecond
	return a.of(r, name, r.mutex(a.client, lock.WithTTL(ttl)))
}

func (h here) of(r *rig, name string, m *fair.Mutex) *call {
	ctx, cancel := context.WithCancel(bg)
	c := r.begin(name)
	c.cancel = cancel
	go func() {
		lease, err := m.Lock(ctx)
		if err == nil {
			c.unlock = func() error { r.inside.Add(-1); return lease.Unlock(bg) }
			c.grant(lease.ID())
		}
		c.end(err)
	}()
	return c
}

// begin notes that somebody is about to call Lock.
func (r *rig) begin(name string) *call {
	return &call{rig: r, visit: r.order.Begin(name), done: make(chan struct{})}
}

// grant notes that the caller has the lock.
func (c *call) grant(hold string) {
	c.hold = hold
	c.visit.Grant(hold)
	c.rig.inside.Add(1)
}

func (c *call) end(err error) {
	c.err = err
	close(c.done)
}

// over tells whether Lock has returned.
func (c *call) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// requireGranted waits for the lock.
func (c *call) requireGranted(t *testing.T, patience time.Duration) {
	t.Helper()
	select {
	case <-c.done:
		require.NoError(t, c.err)
	case <-time.After(patience):
		require.Fail(t, "the lock was not granted", "within %v", patience)
	}
	require.EqualValues(t, 1, c.rig.inside.Load(), "as many are inside (I1)")
}

// giveUp cancels a call that waits, and returns when Lock has.
func (c *call) giveUp(t *testing.T) {
	t.Helper()
	c.visit.Leave()
	c.cancel()
	<-c.done
	require.ErrorIs(t, c.err, context.Canceled)
}

// pass waits for the lock and passes it on.
func (c *call) pass(t *testing.T) {
	t.Helper()
	c.requireGranted(t, within)
	require.NoError(t, c.unlock())
}

// enqueue has p wait, and returns when it has its place.
func (r *rig) enqueue(t *testing.T, p party, name string) *call {
	t.Helper()
	before := r.settled()
	c := p.lock(r, name)
	redistest.Eventually(t, within, func() bool {
		require.False(t, c.over(), "it waits: %v", c.err)
		for _, hold := range r.settled() {
			if !slices.Contains(before, hold) {
				c.hold = hold
				c.visit.Wait(hold)
				r.order.Settle(hold)
				return true
			}
		}
		return false
	}, "%s has a place", name)
	return c
}

// pass has calls served in this order, each passing the lock on to the next, while the
// later ones still wait.
func (r *rig) pass(t *testing.T, calls ...*call) {
	t.Helper()
	for i, c := range calls {
		c.requireGranted(t, within)
		for _, later := range calls[i+1:] {
			require.False(t, later.over(), "it is not its turn: %v", later.err)
		}
		require.NoError(t, c.unlock())
	}
	r.requireOrder(t)
}

// serve has each call pass the lock on as soon as it has it, whoever comes first, and
// returns when all have.
func (r *rig) serve(t *testing.T, calls ...*call) {
	t.Helper()
	var serving sync.WaitGroup
	for _, c := range calls {
		serving.Go(func() { c.serve(t) })
	}
	serving.Wait()
}

func (c *call) serve(t *testing.T) {
	<-c.done
	if c.err != nil {
		t.Error(c.err)
		return
	}
	if n := c.rig.inside.Load(); n != 1 {
		t.Errorf("%d are inside", n)
	}
	if err := c.unlock(); err != nil {
		t.Error(err)
	}
}

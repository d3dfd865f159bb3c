package conformance

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// A call is a Lock that runs beside the rule.
type call struct {
	done  chan struct{}
	lease *lock.Lease
	err   error
}

// start starts a Lock.
func start(ctx context.Context, l Mutex) *call {
	c := &call{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.lease, c.err = l.Lock(ctx)
	}()
	return c
}

// asleep starts a Lock by a client that does not wait yet, and returns when it waits to
// be woken. Of a kind that queues, the client may wait already.
func (t *stage) asleep(ctx context.Context, l Mutex) *call {
	t.Helper()
	before := t.waiters(l)
	c := start(ctx, l)
	t.eventually(func() bool { return c.over() || t.waiters(l) > before }, "it waits")
	if c.over() {
		require.Fail(t, "it does not wait", "lease %v, error %v", c.lease, c.err)
	}
	return c
}

// waiters is how many wait to be woken, as the nodes see it: places in the queue, or
// processes that listen for the end of the hold.
func (t *stage) waiters(l Mutex) int {
	t.Helper()
	if t.kind.Queues {
		return len(t.inspect(l).Queue)
	}
	fewest := t.nodes[0].listeners(t, t.keys().Channel())
	for _, n := range t.nodes[1:] {
		fewest = min(fewest, n.listeners(t, t.keys().Channel()))
	}
	return int(fewest)
}

func (c *call) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// granted waits for the lease.
func (c *call) granted(t *stage) *lock.Lease {
	t.Helper()
	t.await(c.done, "the lock")
	require.NoError(t, c.err)
	return c.lease
}

// failed waits for the error.
func (c *call) failed(t *stage) *lock.AcquireError {
	t.Helper()
	t.await(c.done, "the error")
	require.Error(t, c.err)
	require.Nil(t, c.lease)
	var failure *lock.AcquireError
	require.ErrorAs(t, c.err, &failure)
	require.Equal(t, t.name, failure.Name)
	return failure
}

// prompt is whether a waiter has the lock well before it would look by itself.
func (c *call) prompt(t *stage) (*lock.Lease, bool) {
	t.Helper()
	since := time.Now()
	lease := c.granted(t)
	return lease, time.Since(since) < promptly
}

// requirePrompt plays a scene until a waiter in it was prompt. On a machine so busy that a
// message takes as long as a poll, nobody can tell whether it was woken.
func (t *stage) requirePrompt(scene func() (prompt bool)) {
	t.Helper()
	look := t.locker()
	t.eventually(func() bool {
		t.eventually(func() bool { return t.waiters(look) == 0 }, "nobody waits any more")
		return scene()
	}, "a waiter is woken, and does not have to look")
}

// parallel calls f with 0 to n-1, all at once, and returns the leases.
func (t *stage) parallel(n int, f func(i int) (*lock.Lease, error)) []*lock.Lease {
	t.Helper()
	leases, errs := make([]*lock.Lease, n), make([]error, n)
	together(n, func(i int) { leases[i], errs[i] = f(i) })
	for _, err := range errs {
		require.NoError(t, err)
	}
	return leases
}

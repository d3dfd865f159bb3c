package conformance

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

var bg = context.Background()

const (
	// within bounds what should happen soon.
	within = time.Minute
	// promptly is well below the time between polls, which is two seconds at the least:
	// what takes no longer was woken. How long it may take is a matter of virtual time.
	promptly = 1500 * time.Millisecond
	// shortTTL is renewed every 1.6 seconds: short for a test, long for a busy machine, on
	// which a renewal was seen to take two.
	shortTTL = 5 * time.Second
	// patience is a node timeout that a busy machine does not exceed. No node is ever
	// silent here, so it delays nothing.
	patience = 10 * time.Second
)

// A stage is where one rule is checked: a deployment, and a lock name that no other
// rule uses. It is also the rule's testing.T.
type stage struct {
	*testing.T
	kind  Kind
	nodes []*node
	name  string
	make  func([]redis.UniversalClient, ...lock.ClientOption) (*lock.Client, error) // a lock client

	mu    sync.Mutex
	first *lock.Client // that the rule has used
	roomy []Mutex      // that leave room for each other
}

func newStage(t *testing.T, kind Kind, nodes []*node) *stage {
	s := &stage{T: t, kind: kind, nodes: nodes, make: lock.NewClient, name: "of " + path.Base(t.Name()) + "/42"}
	t.Cleanup(s.requireClean) // after every lock client is closed
	return s
}

// redis is what a program gives to lock.NewClient. It may give the same to several.
func (t *stage) redis() []redis.UniversalClient {
	clients := make([]redis.UniversalClient, len(t.nodes))
	for i, n := range t.nodes {
		clients[i] = n.shared
	}
	return clients
}

// client is a lock client that knows of no other: it might be in another process.
func (t *stage) client(opts ...lock.ClientOption) *lock.Client {
	t.Helper()
	c, err := t.make(t.redis(), append([]lock.ClientOption{lock.WithNodeTimeout(patience)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// on is the stage's lock in the process of c.
func (t *stage) on(c *lock.Client, opts ...lock.Option) Mutex {
	return t.named(c, t.name, opts...)
}

// named is on of another name.
func (t *stage) named(c *lock.Client, name string, opts ...lock.Option) Mutex {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil {
		t.first = c
	}
	if t.kind.Rival != nil && c != t.first {
		return t.kind.Rival(c, name, opts...)
	}
	m := t.kind.New(c, name, opts...)
	if t.kind.Rival != nil {
		t.roomy = append(t.roomy, m)
	}
	return m
}

// leavesRoom tells whether those who hold l leave room for each other.
func (t *stage) leavesRoom(l Mutex) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.roomy, l)
}

// locker is the stage's lock in another process.
func (t *stage) locker(opts ...lock.Option) Mutex {
	t.Helper()
	return t.on(t.client(), opts...)
}

// acquire locks l, which must not take long.
func (t *stage) acquire(ctx context.Context, l Mutex) *lock.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel() // it bounds the wait only
	lease, err := l.Lock(ctx)
	require.NoError(t, err)
	return lease
}

func (t *stage) unlock(leases ...*lock.Lease) {
	t.Helper()
	for _, l := range leases {
		require.NoError(t, l.Unlock(bg))
	}
}

// try is TryLock until the nodes have answered: on a busy machine that may take them longer
// than it waits for them, which says nothing of the lock.
func (t *stage) try(l Mutex) (lease *lock.Lease, err error) {
	t.Helper()
	return t.tryUnder(bg, l)
}

func (t *stage) tryUnder(ctx context.Context, l Mutex) (lease *lock.Lease, err error) {
	t.Helper()
	t.eventually(func() bool {
		lease, err = l.TryLock(ctx)
		return err == nil || errors.Is(err, lock.ErrLocked)
	}, "the nodes answer")
	return lease, err
}

// requireTaken has a stranger find that lease has the lock.
func (t *stage) requireTaken(l Mutex, lease *lock.Lease) {
	t.Helper()
	stranger, err := t.try(t.stranger(l))
	require.ErrorIs(t, err, lock.ErrLocked)
	require.Nil(t, stranger)
	var denied *lock.AcquireError
	require.ErrorAs(t, err, &denied)
	require.Equal(t, lease.ID(), denied.Holder)
}

// stranger is a lock that no holder of l leaves room for.
func (t *stage) stranger(l Mutex) Mutex {
	if t.kind.Rival == nil {
		return l
	}
	t.Helper()
	return t.kind.Rival(t.client(), l.Name())
}

// requireFree has a stranger take the lock, for a moment. It returns when every node has
// heard of the end, so that whoever comes next finds none that is late.
func (t *stage) requireFree(l Mutex) {
	t.Helper()
	lease, err := t.try(t.stranger(l))
	require.NoError(t, err)
	t.unlock(lease)
	t.eventually(func() bool {
		return !slices.ContainsFunc(t.inspect(l).Nodes, func(n lock.NodeState) bool { return n.Holder == lease.ID() })
	}, "every node knows that it is free")
}

// requireTold has the nodes told of the hold's count, as a renewal does, and requires it.
func (t *stage) requireTold(l Mutex, lease *lock.Lease, count int) {
	t.Helper()
	require.NoError(t, lease.Extend(bg, time.Minute))
	t.requireCount(l, count)
}

// requireCount has a quorum, at once, and soon every node count so many leases.
func (t *stage) requireCount(l Mutex, count int) {
	t.Helper()
	var seen lock.State
	require.Equal(t, count, t.inspect(l).Count)
	t.eventually(func() bool {
		seen = t.inspect(l)
		return !slices.ContainsFunc(seen.Nodes, func(n lock.NodeState) bool { return n.Count != count })
	}, "every node counts %d, not %+v", count, &seen)
}

func (t *stage) inspect(l Mutex) lock.State {
	t.Helper()
	s, err := l.Inspect(bg)
	require.NoError(t, err)
	return s
}

// requireLost waits until the lease is over, and was not given back.
func (t *stage) requireLost(lease *lock.Lease) {
	t.Helper()
	t.await(lease.Done(), "the end of the lease")
	require.ErrorIs(t, lease.Err(), lock.ErrLost)
	require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
}

// requireEnded waits until ctx is cancelled, and checks why.
func (t *stage) requireEnded(ctx context.Context, cause error) {
	t.Helper()
	t.await(ctx.Done(), "the end of the context")
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.ErrorIs(t, context.Cause(ctx), cause)
}

// requireKeysOutlive makes sure that each node keeps the lock for longer than the lease
// lasts: by the clock drift, of which a slow answer may seem to take a part.
func (t *stage) requireKeysOutlive(lease *lock.Lease, drift time.Duration) {
	t.Helper()
	deadline := lease.Deadline()
	for _, n := range t.nodes {
		before := time.Now() // what the node says counts from a later moment
		expires := before.Add(n.ttl(t, t.keys().Lock))
		require.Greater(t, expires.Sub(deadline), drift/4)
	}
}

// settles is longer than a command takes that was under way, as a rule.
const settles = 30 * time.Millisecond

// lose deletes the lock on every node, as if they had all forgotten it: on all at once,
// since its holder would give it again to a few. What was under way may bring it back: the
// rest of the round that granted it, or a renewal that still found it somewhere. So it is
// looked for again.
func (t *stage) lose() {
	t.Helper()
	key, errs := t.keys().Lock, make([]error, len(t.nodes))
	t.eventually(func() bool {
		together(len(t.nodes), func(i int) { errs[i] = t.nodes[i].remove(key) })
		require.NoError(t, errors.Join(errs...))
		time.Sleep(settles)
		return !slices.ContainsFunc(t.nodes, func(n *node) bool { return n.ttl(t, key) != -2 })
	}, "no node has it")
}

// keys are those of the stage's lock, for a client without a prefix of its own.
func (t *stage) keys() lua.Keys {
	t.Helper()
	k, err := lua.NewKeys("lock", t.name)
	require.NoError(t, err)
	return k
}

// requireUntouched makes sure that no node has a key that is named after the rule.
func (t *stage) requireUntouched() {
	t.Helper()
	for _, n := range t.nodes {
		require.Empty(t, n.keys(t, t.name))
	}
}

// requireClean waits until nothing is left that stops anybody (I5).
func (t *stage) requireClean() {
	t.Helper()
	for i, n := range t.nodes {
		var dirt string
		if clean := func() bool { dirt = n.dirt(t, t.name); return dirt == "" }; !clean() {
			t.Logf("node %d has %s", i, dirt)
			t.eventually(clean, "node %d is clean", i)
		}
	}
}

func (t *stage) eventually(cond func() bool, msg string, args ...any) {
	t.Helper()
	redistest.Eventually(t, within, cond, msg, args...)
}

// await waits for a channel that something closes.
func (t *stage) await(c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(within):
		require.Fail(t, "not within "+within.String(), what)
	}
}

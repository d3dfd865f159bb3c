package readwrite_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// clients are lock clients of processes that know nothing of each other, over the same servers.
func clients(t *testing.T, nodes, n int) ([]*lock.Client, []*redistest.Server) {
	t.Helper()
	servers := redistest.StartN(t, nodes)
	all := make([]*lock.Client, n)
	for i := range all {
		var rdbs []redis.UniversalClient
		for _, s := range servers {
			rdbs = append(rdbs, s.Client(t))
		}
		c, err := lock.NewClient(rdbs, lock.WithNodeTimeout(10*time.Second))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		all[i] = c
	}
	return all, servers
}

// A kind of lock, or one side of one, by the name that errors have for it.
type side struct {
	kind string
	of   func(c *lock.Client, name string) lock.Locker
}

var sides = map[string]side{
	"reentrant": {"mutex", func(c *lock.Client, name string) lock.Locker { return reentrant.New(c, name) }},
	"fair":      {"mutex", func(c *lock.Client, name string) lock.Locker { return fair.New(c, name) }},
	"writing":   {"read-write lock", func(c *lock.Client, name string) lock.Locker { return readwrite.New(c, name) }},
	"reading":   {"read-write lock", func(c *lock.Client, name string) lock.Locker { return readwrite.New(c, name).RLocker() }},
	"a permit":  {"semaphore", func(c *lock.Client, name string) lock.Locker { return semaphore.New(c, name, 1).Locker(1) }},
}

// One name, one kind: whatever meets on a name excludes each other, but for those who read, and what cannot work
// together is told so.
func TestEachPairOfKinds(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 5} {
		cs, _ := clients(t, nodes, 2)
		for first, a := range sides {
			for second, b := range sides {
				t.Run(fmt.Sprintf("%s, then %s, %d nodes", first, second, nodes), func(t *testing.T) {
					name := first + " " + second
					held, err := a.of(cs[0], name).Lock(bg)
					require.NoError(t, err)
					for _, c := range cs { // of another process, and of the same
						call := func(ctx context.Context, call func(context.Context) (*lock.Lease, error)) error {
							lease, err := call(ctx)
							if err == nil {
								require.NoError(t, lease.Unlock(bg))
							}
							return err
						}
						other := b.of(c, name)
						var err error
						redistest.Eventually(t, time.Minute, func() bool { // a busy machine may leave a TryLock without an answer
							err = call(bg, other.TryLock)
							return !errors.Is(err, lock.ErrNoQuorum)
						}, "the nodes answer")
						switch {
						case first == "reading" && second == "reading":
							require.NoError(t, err)
						case a.kind == b.kind:
							require.ErrorIs(t, err, lock.ErrLocked)
						default:
							require.ErrorIs(t, err, lock.ErrKind)
							require.NotErrorIs(t, err, lock.ErrLocked)
							require.ErrorContains(t, err, a.kind)
							require.ErrorContains(t, err, b.kind)
							require.ErrorContains(t, err, name)
							require.ErrorIs(t, call(bg, other.Lock), lock.ErrKind, "it does not wait")
							if c == cs[0] {
								require.ErrorIs(t, call(held.Context(bg), other.Lock), lock.ErrKind, "nor does its owner")
							}
						}
					}
					require.NoError(t, held.Err())
					require.NoError(t, held.Unlock(bg))
					redistest.Eventually(t, time.Minute, func() bool {
						lease, err := b.of(cs[1], name).TryLock(bg)
						if err == nil {
							require.NoError(t, lease.Unlock(bg))
						}
						return err == nil
					}, "it is free for the other")
				})
			}
		}
	}
}

// What is in the way of a name that is free may be who waits for it.
func TestAKindThatWaitsIsMistakenForNoOther(t *testing.T) {
	t.Parallel()
	cs, servers := clients(t, 1, 2)
	rdb := servers[0].Client(t)
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	// One that waits, and is alive, and will never ask.
	require.NoError(t, rdb.ZAdd(bg, keys.Queue(), redis.Z{Score: 1, Member: cs[0].ID() + ":1"}).Err())
	require.NoError(t, rdb.HSet(bg, keys.Waiters(), cs[0].ID()+":1", "99999999999999999 1").Err())
	_, err = readwrite.New(cs[1], "orders").RLock(bg)
	require.ErrorIs(t, err, lock.ErrKind)
	_, err = readwrite.New(cs[1], "orders").Lock(bg)
	require.ErrorIs(t, err, lock.ErrKind)
	require.Equal(t, []string{cs[0].ID() + ":1"}, rdb.ZRange(bg, keys.Queue(), 0, -1).Val(), "nobody is left in the queue")
}

// A key of another type is nothing that a lock could work with: it says so, and leaves it as it is.
func TestAKeyOfAnotherTypeIsLeftAlone(t *testing.T) {
	t.Parallel()
	cs, servers := clients(t, 1, 1)
	rdb := servers[0].Client(t)
	for _, suffix := range []string{"", ":token", ":void", ":queue", ":waiters", ":readers"} {
		name := "of a string at " + suffix
		key := "lock:{" + name + "}" + suffix
		require.NoError(t, rdb.Set(bg, key, "a program's", 0).Err())
		m := readwrite.New(cs[0], name)
		for _, call := range []func(context.Context) (*lock.Lease, error){m.RLock, m.Lock, m.TryRLock, m.TryLock} {
			ctx, cancel := context.WithTimeout(bg, 300*time.Millisecond)
			lease, err := call(ctx)
			cancel()
			if suffix == ":queue" || suffix == ":waiters" || suffix == ":void" || suffix == ":token" || suffix == ":readers" {
				if err == nil { // it was not needed to lock; the key that counts is gone, whatever Unlock says
					_ = lease.Unlock(bg)
					continue
				}
			}
			require.Error(t, err)
			require.NotErrorIs(t, err, lock.ErrLocked)
			require.ErrorContains(t, err, name)
		}
		require.Equal(t, "a program's", rdb.Get(bg, key).Val())
		redistest.Eventually(t, time.Minute, func() bool {
			return suffix == "" || rdb.Exists(bg, "lock:{"+name+"}").Val() == 0
		}, "nothing is held, suffix %q", suffix)
	}
}

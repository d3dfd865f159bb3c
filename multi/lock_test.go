package multi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
)

// The nodes have every command before any of them is answered.
func TestFreeNamesAreAskedForAtOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := countingRig(t, n)
		names := []string{"d", "a", "c", "b"}
		m := multi.New(of(r.client(t), names...)...)
		// On a busy machine it may take so long to see them that they are asked for again.
		redistest.Eventually(t, within/2, func() bool { return r.askedAtOnce(t, m, names) },
			"%d nodes are asked for all names at once, and only once", n)
		r.requireClean(t)
	}
}

// askedAtOnce has the nodes hear nothing of the names before each of them was asked for all, and
// tells whether they were asked only once.
func (r *rig) askedAtOnce(t *testing.T, m *multi.Mutex, names []string) bool {
	t.Helper()
	var held []*redistest.Held
	var before []int
	for _, p := range r.proxies {
		before = append(before, p.Commands(acquireCall))
		held = append(held, p.Hold(acquireCall, len(names)))
	}
	granted := make(chan *multi.Lease, 1)
	go func() {
		l, err := m.Lock(bg)
		if err != nil {
			t.Error(err)
		}
		granted <- l
	}()
	for _, h := range held {
		h.Wait(t)
	}
	for _, h := range held {
		h.Release()
	}
	l := <-granted
	once := true
	for i, p := range r.proxies {
		once = once && p.Commands(acquireCall)-before[i] == len(names)
	}
	for i, lease := range l.Leases() {
		require.Equal(t, names[i], lease.Name())
		require.NoError(t, lease.Err())
	}
	require.NoError(t, l.Unlock(bg))
	return once
}

// Two accounts, and transfers between them in both directions: by goroutines of several
// processes, with locks given in either order, of both kinds, and by some who only try or soon give up.
func TestTransfersInBothDirectionsKeepTheSum(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		for name, of := range map[string]func(*lock.Client, ...string) []lock.Locker{"reentrant": of, "mixed": mixed} {
			t.Run(fmt.Sprintf("%s, %d nodes", name, n), func(t *testing.T) {
				t.Parallel()
				const processes, goroutines, transfers, total = 3, 4, 12, 1000
				r := newRig(t, n)
				accounts := [2]int{total / 2, total / 2} // guarded by the locks that are tested
				var inside, done atomic.Int64
				var all sync.WaitGroup
				for range processes {
					c := r.client(t)
					for g := range goroutines {
						all.Go(func() {
							for i := range transfers {
								from := (g + i) % 2
								names := []string{"ann", "bob"}
								if from == 1 {
									names = []string{"bob", "ann"}
								}
								m := multi.New(of(c, names...)...)
								ctx, cancel := context.WithTimeout(bg, within)
								take := m.Lock
								switch i % 4 {
								case 1:
									take = m.TryLock
								case 2:
									cancel()
									ctx, cancel = context.WithTimeout(bg, rand.N(5*time.Millisecond))
								}
								l, err := take(ctx)
								if err == nil {
									if inside.Add(1) != 1 {
										t.Error("two are inside")
									}
									accounts[from] -= i
									accounts[1-from] += i
									if sum := accounts[0] + accounts[1]; sum != total {
										t.Errorf("the sum is %d", sum)
									}
									inside.Add(-1)
									err = l.Unlock(bg)
									done.Add(1)
								}
								cancel()
								switch {
								case err == nil:
								case i%4 == 1 && (errors.Is(err, lock.ErrLocked) || errors.Is(err, lock.ErrNoQuorum)):
								case i%4 == 2 && errors.Is(err, context.DeadlineExceeded):
								default:
									t.Error(err)
								}
							}
						})
					}
				}
				all.Wait()
				require.GreaterOrEqual(t, done.Load(), int64(processes*goroutines*transfers/2))
				r.requireClean(t)
			})
		}
	}
}

// More names than two, of which each call wants some, in any order.
func TestOverlappingSetsMakeProgress(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		r := newRig(t, n)
		names := []string{"a", "b", "c", "d", "e"}
		inside := make([]atomic.Int64, len(names))
		var all sync.WaitGroup
		for range 3 {
			c := r.client(t)
			for range 3 {
				all.Go(func() {
					for range 15 {
						ctx, cancel := context.WithTimeout(bg, within)
						wanted := rand.Perm(len(names))[:1+rand.IntN(len(names))]
						var list []string
						for _, i := range wanted {
							list = append(list, names[i])
						}
						err := multi.New(of(c, list...)...).Do(ctx, func(context.Context) error {
							for _, i := range wanted {
								if inside[i].Add(1) != 1 {
									t.Errorf("two have %s", names[i])
								}
							}
							for _, i := range wanted {
								inside[i].Add(-1)
							}
							return nil
						})
						if err != nil {
							t.Error(err)
						}
						cancel()
					}
				})
			}
		}
		all.Wait()
		r.requireClean(t)
	}
}

func TestCancellationThatRacesTheGrantLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		c := r.client(t)
		granted, cancelled := 0, 0
		most := 4 * time.Millisecond // adapted, so that about as many are cancelled as not
		for i := range 200 {
			m := multi.New(mixed(c, fmt.Sprint("a", i%7), fmt.Sprint("b", i%5), fmt.Sprint("c", i%3))...)
			ctx, cancel := context.WithTimeout(bg, rand.N(most))
			l, err := m.Lock(ctx)
			if err == nil {
				granted++
				most -= most / 16
				require.NoError(t, l.Unlock(ctx))
			} else {
				cancelled++
				most += most / 16
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			cancel()
		}
		t.Logf("%d nodes: %d granted, %d cancelled", n, granted, cancelled)
		require.Positive(t, granted)
		require.Positive(t, cancelled)
		r.requireClean(t)
	}
}

// The names of a Cluster are on several servers, which are asked at once too.
func TestNamesOfACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	client := func() *lock.Client {
		c, err := lock.NewClient([]redis.UniversalClient{cluster.Client(t)}, lock.WithNodeTimeout(patience))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	names := []string{"a", "b", "c", "d", "e"}
	m, theirs := multi.New(mixed(client(), names...)...), multi.New(mixed(client(), "e", "c", "a")...)
	l, err := m.Lock(bg)
	require.NoError(t, err)
	_, err = theirs.TryLock(bg)
	require.ErrorIs(t, err, lock.ErrLocked)
	granted := make(chan error, 1)
	go func() {
		l, err := theirs.Lock(bg)
		if err == nil {
			err = l.Unlock(bg)
		}
		granted <- err
	}()
	inner, err := m.TryLock(l.Context(bg))
	require.NoError(t, err)
	require.NoError(t, inner.Unlock(bg))
	require.NoError(t, l.Unlock(bg))
	require.NoError(t, <-granted)
	for _, s := range cluster.Servers {
		redistest.Eventually(t, within, func() bool {
			return !slices.ContainsFunc(s.Keys(t), func(key string) bool {
				return !strings.HasSuffix(key, ":token") && !strings.HasSuffix(key, ":void")
			})
		}, "nothing is left on %s", s.Addr())
	}
}

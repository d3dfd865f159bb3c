package readwrite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// A checker sees who is in.
type checker struct {
	t       *testing.T
	writers atomic.Int64
	readers atomic.Int64

	mu    sync.Mutex
	last  int64 // the greatest token
	write int64 // the last writer's
}

// enter notes that lease was granted, and returns what is to be called before it is given back.
func (c *checker) enter(lease *lock.Lease, writes bool) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if writes {
		assert.EqualValues(c.t, 1, c.writers.Add(1), "writers (I1)")
		assert.Zero(c.t, c.readers.Load(), "readers beside one who writes (I1)")
		assert.Greater(c.t, lease.Token(), c.last, "a writer's token (I3)")
		c.last, c.write = lease.Token(), lease.Token()
		return func() { c.writers.Add(-1) }
	}
	c.readers.Add(1)
	assert.Zero(c.t, c.writers.Load(), "writers beside one who reads (I1)")
	// It may be greater, even than that of another who reads: see docs/divergence.md.
	assert.GreaterOrEqual(c.t, lease.Token(), c.write, "a reader's token is not older than a write")
	c.last = max(c.last, lease.Token())
	return func() { c.readers.Add(-1) }
}

// Two processes with many goroutines that read, write, try, re-enter, go on reading and give up at random.
func TestWhateverTheyDoOneWritesOrSomeRead(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		b.delay(500 * time.Microsecond)
		in := &checker{t: t}
		var work sync.WaitGroup
		var held [2]atomic.Int64
		for process := range 2 {
			m := b.mutex(t, lock.WithTTL(10*time.Second))
			for g := range 8 {
				work.Go(func() {
					r := rand.New(rand.NewPCG(uint64(process), uint64(g)))
					for range 60 {
						ctx, cancel := context.WithCancel(bg)
						if r.IntN(10) == 0 {
							ctx, cancel = context.WithTimeout(bg, time.Duration(r.IntN(8000))*time.Microsecond)
						}
						writes := r.IntN(8) == 0
						call := []func(context.Context) (*lock.Lease, error){m.RLock, m.Lock, m.TryRLock, m.TryLock}[choose(writes)+2*choose(r.IntN(10) == 0)]
						lease, err := call(ctx)
						if err == nil {
							held[process].Add(1)
							leave := in.enter(lease, writes)
							time.Sleep(time.Duration(r.IntN(1500)) * time.Microsecond)
							if writes && r.IntN(6) == 0 { // it goes on reading
								reading, err := m.RLock(lease.Context(bg))
								assert.NoError(t, err)
								in.readers.Add(1)
								leave()
								assert.NoError(t, lease.Unlock(bg))
								time.Sleep(time.Duration(r.IntN(1500)) * time.Microsecond)
								lease, leave = reading, func() { in.readers.Add(-1) }
							}
							leave()
							assert.NoError(t, lease.Unlock(bg))
						} else if !errors.Is(err, context.DeadlineExceeded) {
							assert.ErrorIs(t, err, lock.ErrLocked)
						}
						cancel()
						time.Sleep(time.Duration(r.IntN(2)*r.IntN(30)) * time.Millisecond)
					}
				})
			}
		}
		work.Wait()
		require.Greater(t, held[0].Load(), int64(240))
		require.Greater(t, held[1].Load(), int64(240))
		time.Sleep(15 * time.Second) // a TTL after whatever was lost on the way
		b.requireQueued(t, 0)
		unlock(t, must(t, b.mutex(t).TryLock))
	})
}

func choose(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// What happens at the very moment at which one that writes ends, and others of its process wait.
func TestTheEndOfOneThatWritesAtTheSameMomentAs(t *testing.T) {
	t.Parallel()
	for what, race := range map[string]struct {
		rounds int
		meets  func(b *bubble, m *readwrite.Mutex, c *lock.Client, cancel func())
	}{
		"a reader that comes": {1500, func(_ *bubble, m *readwrite.Mutex, _ *lock.Client, _ func()) {
			if lease, err := m.RLock(bg); err == nil {
				_ = lease.Unlock(bg)
			}
		}},
		"a writer that tries": {1500, func(_ *bubble, m *readwrite.Mutex, _ *lock.Client, _ func()) {
			if lease, err := m.TryLock(bg); err == nil {
				_ = lease.Unlock(bg)
			}
		}},
		"a cancellation": {1500, func(_ *bubble, _ *readwrite.Mutex, _ *lock.Client, cancel func()) { cancel() }},
		"a force": {500, func(_ *bubble, m *readwrite.Mutex, _ *lock.Client, _ func()) {
			_, _ = m.ForceUnlock(bg)
		}},
		"a loss": {500, func(b *bubble, _ *readwrite.Mutex, _ *lock.Client, _ func()) {
			for _, n := range b.nodes {
				n.Delete(b.keys.Lock)
			}
		}},
		"a close": {150, func(_ *bubble, _ *readwrite.Mutex, c *lock.Client, _ func()) { _ = c.Close() }},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, 1)
				other := b.mutex(t)
				var m *readwrite.Mutex
				var c *lock.Client
				in := &checker{t: t}
				for round := range race.rounds {
					if m == nil || what == "a close" {
						var err error
						c, err = lock.NewClient(virtual.NewHost(b.nodes).Clients(t))
						require.NoError(t, err)
						t.Cleanup(func() { _ = c.Close() })
						m = readwrite.New(c, "config")
					}
					writing := must(t, m.Lock)
					leave := in.enter(writing, true)
					time.Sleep(time.Millisecond)
					ctx, cancel := context.WithCancel(bg)
					var all sync.WaitGroup
					for i, call := range []func(context.Context) (*lock.Lease, error){m.RLock, m.Lock, m.RLock} {
						ctx := ctx
						if i == round%4 {
							ctx = bg
						}
						all.Go(func() {
							lease, err := call(ctx)
							if err != nil {
								return
							}
							if what != "a loss" && what != "a force" && what != "a close" { // after which one may not know it yet
								in.enter(lease, i == 1)()
							}
							_ = lease.Unlock(bg)
						})
					}
					synctest.Wait()
					all.Go(func() {
						leave()
						_ = writing.Unlock(bg)
					})
					all.Go(func() { race.meets(b, m, c, cancel) })
					all.Wait()
					cancel()
					if round%10 == 0 {
						time.Sleep(100 * time.Millisecond)
						lease, err := other.TryLock(bg)
						require.NoError(t, err, "round %d", round)
						require.NoError(t, lease.Unlock(bg))
					}
				}
				time.Sleep(time.Second)
				b.requireQueued(t, 0)
				unlock(t, must(t, other.TryLock))
			})
		})
	}
}

// A crowd of which a few write goes on within its process when one elsewhere comes, and takes turns with it.
func TestProcessesTakeTurns(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		b.delay(time.Millisecond)
		in := &checker{t: t}
		stop := make(chan struct{})
		var crowd sync.WaitGroup
		m, other := b.mutex(t), b.mutex(t)
		for g := range 24 {
			crowd.Go(func() {
				for turn := g; ; turn++ {
					select {
					case <-stop:
						return
					default:
					}
					call, writes := m.RLock, turn%12 == 0
					if writes {
						call = m.Lock
					}
					lease, err := call(bg)
					if !assert.NoError(t, err) {
						return
					}
					leave := in.enter(lease, writes)
					time.Sleep(2 * time.Millisecond)
					leave()
					assert.NoError(t, lease.Unlock(bg))
				}
			})
		}
		for i := range 20 {
			time.Sleep(30 * time.Millisecond)
			began := time.Now()
			call, writes := other.RLock, i%2 == 0
			if writes {
				call = other.Lock
			}
			lease := must(t, call)
			// Two of twenty-four write, as a rule, and each with those who read before it takes two holds; and there are
			// the round trips, and those who came within this process before it was known.
			require.LessOrEqual(t, time.Since(began), 100*time.Millisecond, fmt.Sprint("turn ", i))
			in.enter(lease, writes)()
			unlock(t, lease)
		}
		close(stop)
		crowd.Wait()
	})
}

package readwrite_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
)

// What is about time, in virtual time: its bounds are exact.

// A bubble is the nodes of one lock in virtual time.
type bubble struct {
	nodes []*virtual.Node
	keys  lua.Keys
}

// inBubbles runs a test in virtual time on one node and on five.
func inBubbles(t *testing.T, test func(t *testing.T, b *bubble)) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test(t, newBubble(t, n))
			})
		})
	}
}

func newBubble(t *testing.T, nodes int) *bubble {
	t.Helper()
	keys, err := lua.NewKeys("lock", "config")
	require.NoError(t, err)
	return &bubble{nodes: virtual.StartN(t, nodes), keys: keys}
}

// host is a machine with one process that uses the lock.
func (b *bubble) host(t *testing.T, opts ...lock.ClientOption) (*virtual.Host, *readwrite.Mutex) {
	t.Helper()
	h := virtual.NewHost(b.nodes)
	c, err := lock.NewClient(h.Clients(t), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return h, readwrite.New(c, "config")
}

func (b *bubble) mutex(t *testing.T, opts ...lock.ClientOption) *readwrite.Mutex {
	t.Helper()
	_, m := b.host(t, opts...)
	return m
}

// delay has each round trip take so long.
func (b *bubble) delay(d time.Duration) {
	for _, n := range b.nodes {
		n.SetDelay(d/2, d/2)
	}
}

func (b *bubble) mute(on bool) {
	for _, n := range b.nodes {
		n.Mute(on)
	}
}

// scripts counts the scripts that the nodes were told to run.
func (b *bubble) scripts() (n int) {
	for _, node := range b.nodes {
		n += len(node.Commands(virtual.Name("EVALSHA")))
	}
	return n
}

// A wait is one call in virtual time.
type wait struct {
	ended time.Time
	lease *lock.Lease
	err   error
	done  chan struct{}
}

// start starts a call, and returns when all that it does at once is done.
func start(ctx context.Context, call func(context.Context) (*lock.Lease, error)) *wait {
	w := &wait{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lease, w.err = call(ctx)
		w.ended = time.Now()
	}()
	synctest.Wait()
	return w
}

func (w *wait) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// granted waits for the lock, and tells how long after since it came.
func (w *wait) granted(t *testing.T, since time.Time) time.Duration {
	t.Helper()
	select {
	case <-w.done:
	case <-time.After(2 * time.Minute):
		require.Fail(t, "it waits still")
	}
	require.NoError(t, w.err)
	return w.ended.Sub(since)
}

func must(t *testing.T, call func(context.Context) (*lock.Lease, error)) *lock.Lease {
	t.Helper()
	lease, err := call(bg)
	require.NoError(t, err)
	return lease
}

func unlock(t *testing.T, leases ...*lock.Lease) {
	t.Helper()
	for _, l := range leases {
		require.NoError(t, l.Unlock(bg))
	}
}

func TestASingleReadLockCostsARoundTrip(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		unlock(t, must(t, m.Lock)) // the counters agree from now on
		time.Sleep(time.Second)
		const trip = 10 * time.Millisecond
		b.delay(trip)
		for range 3 {
			began := time.Now()
			lease := must(t, m.RLock)
			require.Equal(t, trip, time.Since(began))
			began = time.Now()
			unlock(t, lease)
			require.Equal(t, trip, time.Since(began))
		}
	})
}

func TestReadingWhileOthersOfTheProcessReadCostsNoCommand(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		first := must(t, m.RLock)
		synctest.Wait()
		before := b.scripts()
		var leases []*lock.Lease
		for range 100 {
			leases = append(leases, must(t, m.RLock))
		}
		unlock(t, first)
		unlock(t, leases[1:]...)
		require.Equal(t, before, b.scripts())
		require.NoError(t, leases[0].Err())
		unlock(t, leases[0])
		require.Greater(t, b.scripts(), before, "the last one gives it back")
		time.Sleep(time.Second)
		unlock(t, must(t, b.mutex(t).Lock))
	})
}

// For as long as others join, the nodes are asked whether somebody waits to write, and nobody waits for that.
func TestWhoJoinsIsAheadOfTheLastLookByFiftyMillisecondsAtMost(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		first := must(t, m.RLock)
		synctest.Wait()
		before := b.scripts()
		const rounds = 1000 // of a millisecond
		for range rounds {
			began := time.Now()
			unlock(t, must(t, m.RLock))
			require.Zero(t, time.Since(began))
			time.Sleep(time.Millisecond)
		}
		looks := (b.scripts() - before) / len(b.nodes)
		require.LessOrEqual(t, looks, rounds/25+2)
		require.GreaterOrEqual(t, looks, rounds/25-2)
		// After a pause the nodes are asked by a lock of its own.
		time.Sleep(time.Second)
		before = b.scripts()
		later := must(t, m.RLock)
		require.Greater(t, b.scripts(), before)
		require.NotContains(t, later.ID(), first.ID())
		unlock(t, first, later)
	})
}

func TestAWriterThatWaitsEndsTheSharingAtOnce(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		first := must(t, m.RLock)
		unlock(t, must(t, m.RLock))
		synctest.Wait()
		writer := start(bg, other.Lock)
		later := start(bg, m.RLock)
		require.False(t, later.over(), "it came after the writer")
		released := time.Now()
		unlock(t, first)
		require.Zero(t, writer.granted(t, released))
		require.False(t, later.over())
		released = time.Now()
		unlock(t, writer.lease)
		require.Zero(t, later.granted(t, released))
		unlock(t, later.lease)
	})
}

func TestAWriterWhoseMessageIsLostEndsTheSharingWithinFiftyMillisecondsAndARoundTrip(t *testing.T) {
	for _, trip := range []time.Duration{0, 30 * time.Millisecond, 120 * time.Millisecond} {
		t.Run(trip.String(), func(t *testing.T) {
			inBubbles(t, func(t *testing.T, b *bubble) {
				m, other := b.mutex(t), b.mutex(t)
				b.delay(trip)
				first := must(t, m.RLock)
				var joined atomic.Int64 // when somebody last joined
				stop := make(chan struct{})
				go func() {
					for {
						select {
						case <-stop:
							return
						case <-time.After(time.Millisecond):
						}
						if lease, err := m.TryRLock(bg); err == nil {
							joined.Store(time.Now().UnixNano())
							_ = lease.Unlock(bg)
						}
					}
				}()
				time.Sleep(200 * time.Millisecond)
				b.mute(true)
				began := time.Now()
				writer := start(bg, other.Lock)
				time.Sleep(500*time.Millisecond + 4*trip)
				close(stop)
				require.Less(t, time.Unix(0, joined.Load()).Sub(began), 51*time.Millisecond+trip)
				require.False(t, writer.over())
				b.mute(false)
				time.Sleep(2 * trip) // it may just be joining
				released := time.Now()
				unlock(t, first)
				require.LessOrEqual(t, writer.granted(t, released), 4*trip) // the release, its own request, and another if nodes differ
				unlock(t, writer.lease)
			})
		})
	}
}

// What the nodes said about writers counts from when it was heard: from when they were asked, it would be too old by then.
func TestReadersJoinHoweverFarTheNodesAre(t *testing.T) {
	for trip, percent := range map[time.Duration]int64{30 * time.Millisecond: 82, 60 * time.Millisecond: 50, 150 * time.Millisecond: 50} {
		t.Run(trip.String(), func(t *testing.T) {
			inBubbles(t, func(t *testing.T, b *bubble) {
				m := b.mutex(t, lock.WithNodeTimeout(8*trip))
				b.delay(trip)
				ctx, cancel := context.WithTimeout(bg, 40*time.Second)
				defer cancel()
				var readers sync.WaitGroup
				var joined, all atomic.Int64
				for i := range 6 {
					hold := 20*time.Millisecond + time.Duration(i)*time.Millisecond // if all ended at the same instant, some could miss the others
					readers.Go(func() {
						for {
							began := time.Now()
							lease, err := m.RLock(ctx)
							if err != nil {
								return
							}
							all.Add(1)
							if time.Since(began) == 0 {
								joined.Add(1)
							}
							time.Sleep(hold)
							_ = lease.Unlock(bg)
						}
					})
				}
				readers.Wait()
				require.Greater(t, 100*joined.Load()/all.Load(), percent, "%d of %d", joined.Load(), all.Load())
			})
		})
	}
}

// A stream of one kind does not shut the other out.
func TestNeitherKindStarves(t *testing.T) {
	for _, processes := range []int{1, 8} {
		t.Run(fmt.Sprintf("%d processes", processes), func(t *testing.T) {
			inBubbles(t, func(t *testing.T, b *bubble) {
				const work = 5 * time.Millisecond
				b.delay(time.Millisecond)
				var mutexes []*readwrite.Mutex
				for range processes {
					mutexes = append(mutexes, b.mutex(t))
				}
				stream := func(stop chan struct{}, lock func(*readwrite.Mutex) func(context.Context) (*lock.Lease, error)) (joined chan error) {
					joined = make(chan error, 16)
					for i := range cap(joined) {
						go func() {
							for {
								select {
								case <-stop:
									joined <- nil
									return
								default:
								}
								lease, err := lock(mutexes[i%processes])(bg)
								if err != nil {
									joined <- err
									return
								}
								time.Sleep(work)
								if err := lease.Unlock(bg); err != nil {
									joined <- err
									return
								}
							}
						}()
					}
					return joined
				}
				reads := func(m *readwrite.Mutex) func(context.Context) (*lock.Lease, error) { return m.RLock }
				writes := func(m *readwrite.Mutex) func(context.Context) (*lock.Lease, error) { return m.Lock }
				for _, c := range []struct {
					stream, one func(*readwrite.Mutex) func(context.Context) (*lock.Lease, error)
					most        time.Duration
				}{
					{reads, writes, 2*work + 55*time.Millisecond}, // one that has begun, and those who join until it is known
					{writes, reads, 17 * (work + 5*time.Millisecond)},
				} {
					stop := make(chan struct{})
					joined := stream(stop, c.stream)
					time.Sleep(100 * time.Millisecond)
					for i := range 10 {
						began := time.Now()
						lease := must(t, c.one(mutexes[i%processes]))
						require.LessOrEqual(t, time.Since(began), c.most)
						unlock(t, lease)
						time.Sleep(time.Duration(i) * time.Millisecond)
					}
					close(stop)
					for range cap(joined) {
						require.NoError(t, <-joined)
					}
				}
			})
		})
	}
}

func TestACrashedReaderFreesItsPlaceAfterItsTTLWhateverTheOthersDo(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const ttl = 10 * time.Second
		dead, m := b.host(t, lock.WithTTL(ttl))
		living, writers := b.mutex(t, lock.WithTTL(ttl)), b.mutex(t)
		must(t, m.RLock)
		began := time.Now()
		dead.Kill()
		lease := must(t, living.RLock)
		time.Sleep(6 * time.Second) // the living one is renewed
		s, err := writers.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, s.Readers, 2)
		released := time.Now()
		unlock(t, lease)
		w := start(bg, writers.Lock)
		require.False(t, w.over(), "no sooner")
		w.granted(t, released)
		require.GreaterOrEqual(t, w.ended.Sub(began), ttl)
		require.LessOrEqual(t, w.ended.Sub(began), ttl+50*time.Millisecond)
		unlock(t, w.lease)
	})
}

func TestACrashedWriterLetsAllAtTheHeadReadAfterItsTTL(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const ttl = 10 * time.Second
		dead, m := b.host(t, lock.WithTTL(ttl))
		must(t, m.Lock)
		began := time.Now()
		var waits []*wait
		for range 4 {
			waits = append(waits, start(bg, b.mutex(t).RLock))
		}
		last := start(bg, b.mutex(t).Lock)
		dead.Kill()
		for _, w := range waits {
			require.LessOrEqual(t, w.granted(t, began), ttl+50*time.Millisecond)
		}
		require.False(t, last.over())
		for _, w := range waits {
			unlock(t, w.lease)
		}
		last.granted(t, began)
		unlock(t, last.lease)
	})
}

func TestADowngradeHasNoGapThoughANodeIsSilent(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const ttl = 10 * time.Second
		m, other := b.mutex(t, lock.WithTTL(ttl)), b.mutex(t, lock.WithTTL(ttl))
		writing := must(t, m.Lock)
		time.Sleep(time.Second) // every node has it
		reading, err := m.RLock(writing.Context(bg))
		require.NoError(t, err)
		writer := start(bg, other.Lock)
		for _, n := range b.nodes[:len(b.nodes)/2] {
			n.Silence(true)
		}
		unlock(t, writing)
		for range 50 {
			require.NoError(t, reading.Err())
			require.False(t, writer.over())
			time.Sleep(ttl / 10)
		}
		s, err := other.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, []string{reading.ID()}, s.Readers)
		for _, n := range b.nodes[:len(b.nodes)/2] {
			n.Silence(false)
		}
		unlock(t, reading)
		writer.granted(t, time.Now())
		unlock(t, writer.lease)
	})
}

// A lease to read that was extended lasts until its deadline, whatever becomes of its process and of others that read.
func TestADowngradeEndsNoLeaseEarlier(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		host, m := b.host(t)
		other := b.mutex(t)
		writing := must(t, m.Lock)
		reading, err := m.RLock(writing.Context(bg))
		require.NoError(t, err)
		require.NoError(t, reading.Extend(bg, 5*time.Minute))
		unlock(t, writing)
		host.Silence(true)
		beside := must(t, other.RLock)
		time.Sleep(time.Minute) // which is longer than the TTL of both
		unlock(t, beside)
		writer := start(bg, other.Lock)
		for reading.Err() == nil {
			require.False(t, writer.over())
			time.Sleep(time.Second)
		}
		writer.granted(t, time.Now())
		unlock(t, writer.lease)
	})
}

// A node that has not heard of it until the release has the last writer's token for the next reader all the same.
func TestANodeThatMissedTheDowngradeHasTheWritersTokenAfterTheRelease(t *testing.T) {
	for _, rest := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			keys, err := lua.NewKeys("lock", "config")
			require.NoError(t, err)
			b := &bubble{nodes: virtual.StartN(t, 3), keys: keys}
			m := b.mutex(t, lock.WithTTL(10*time.Second), lock.WithMinHold(rest))
			writing := must(t, m.Lock)
			next := start(bg, m.Lock)
			synctest.Wait()
			unlock(t, writing)
			next.granted(t, time.Now())
			writing = next.lease
			ctx, cancel := context.WithCancel(bg)
			start(ctx, m.Lock) // for it there are tokens
			synctest.Wait()
			cancel()
			synctest.Wait()
			reading, err := m.RLock(writing.Context(bg))
			require.NoError(t, err)
			synctest.Wait()
			late := b.nodes[2]
			counter := func() string {
				v, err := late.Memory().Get(keys.Token())
				require.NoError(t, err)
				return v
			}
			token := strconv.FormatInt(writing.Token(), 10)
			require.Greater(t, counter(), token)
			late.Refuse(func(args []string) bool { return slices.Contains([]string{"EVALSHA", "EVAL"}, args[0]) })
			unlock(t, writing)
			synctest.Wait()
			late.Refuse(nil)
			require.False(t, late.Memory().Exists(keys.Readers()))
			unlock(t, reading)
			synctest.Wait()
			require.Equal(t, token, counter())
		})
	}
}

// What one node has not heard of, it hears with the next renewal.
func TestANodeThatMissedTheDowngradeIsToldLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, err := lua.NewKeys("lock", "config")
		require.NoError(t, err)
		b := &bubble{nodes: virtual.StartN(t, 3), keys: keys}
		m := b.mutex(t, lock.WithTTL(10*time.Second))
		writing := must(t, m.Lock)
		reading, err := m.RLock(writing.Context(bg))
		require.NoError(t, err)
		late := b.nodes[2]
		late.Refuse(func(args []string) bool { return slices.Contains([]string{"EVALSHA", "EVAL"}, args[0]) })
		unlock(t, writing)
		synctest.Wait() // a quorum has confirmed it
		late.Refuse(nil)
		require.False(t, late.Memory().Exists(keys.Readers()))
		time.Sleep(5 * time.Second)
		require.True(t, late.Memory().Exists(keys.Readers()))
		unlock(t, reading)
	})
}

// Nodes that did not confirm a downgrade are told again soon: as long as they have not heard of it, nobody else may read.
func TestADowngradeThatNoNodeConfirmedIsToldSoon(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		writing := must(t, m.Lock)
		reading, err := m.RLock(writing.Context(bg))
		require.NoError(t, err)
		for _, n := range b.nodes {
			n.Refuse(func(args []string) bool { return slices.Contains([]string{"EVALSHA", "EVAL"}, args[0]) })
		}
		require.ErrorIs(t, writing.Unlock(bg), lock.ErrNoQuorum)
		for _, n := range b.nodes {
			n.Refuse(nil)
		}
		time.Sleep(3 * time.Second) // no renewal is due yet
		unlock(t, must(t, other.TryRLock))
		unlock(t, reading)
	})
}

// One of a process may read for no longer than its own settings say, while others of it go on.
func TestOneOfThoseWhoShareMayEndAlone(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const ttl = 10 * time.Second
		h := virtual.NewHost(b.nodes)
		c, err := lock.NewClient(h.Clients(t), lock.WithTTL(ttl))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		m, brief := readwrite.New(c, "config"), readwrite.New(c, "config", lock.WithMaxHold(5*time.Second))
		first := must(t, m.RLock)
		second := must(t, brief.RLock)
		ctx, cancel := context.WithCancel(bg)
		third := must(t, m.RLock)
		work := third.Context(ctx)
		require.Contains(t, second.ID(), first.ID(), "they share")
		require.Contains(t, third.ID(), first.ID())
		cancel()
		<-work.Done()
		time.Sleep(2 * ttl)
		require.NoError(t, first.Err())
		var lost *lock.LeaseError
		require.ErrorAs(t, second.Err(), &lost)
		require.Equal(t, lock.ReasonMaxHold, lost.Reason)
		require.ErrorAs(t, third.Err(), &lost)
		require.Equal(t, lock.ReasonAbandoned, lost.Reason)
		require.ErrorIs(t, second.Unlock(bg), lock.ErrLost)
		require.ErrorIs(t, third.Unlock(bg), lock.ErrLost)
		_, err = b.mutex(t).TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		unlock(t, first)
		unlock(t, must(t, b.mutex(t).Lock))
	})
}

// Nor is anybody kept from reading when an owner that still reads may not write any more.
func TestOneThatMayNotWriteAnyMoreReadsOn(t *testing.T) {
	const ttl = 10 * time.Second
	for name, writes := range map[string]func(*testing.T, *lock.Client, context.Context) *lock.Lease{
		"past its limit": func(t *testing.T, c *lock.Client, ctx context.Context) *lock.Lease {
			w, err := readwrite.New(c, "config", lock.WithMaxHold(5*time.Second)).Lock(ctx)
			require.NoError(t, err)
			return w
		},
		"abandoned": func(t *testing.T, c *lock.Client, ctx context.Context) *lock.Lease {
			w, err := readwrite.New(c, "config").Lock(ctx)
			require.NoError(t, err)
			work, cancel := context.WithCancel(ctx)
			w.Context(work)
			cancel()
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbles(t, func(t *testing.T, b *bubble) {
				c, err := lock.NewClient(virtual.NewHost(b.nodes).Clients(t), lock.WithTTL(ttl))
				require.NoError(t, err)
				t.Cleanup(func() { _ = c.Close() })
				m, other := readwrite.New(c, "config"), b.mutex(t)
				owner := lock.WithOwner(bg)
				writing := writes(t, c, owner)
				reading := must(t, func(context.Context) (*lock.Lease, error) { return m.RLock(owner) })
				waits := start(bg, other.RLock)
				<-writing.Done()
				require.Less(t, waits.granted(t, time.Now()), 100*time.Millisecond)
				require.NoError(t, reading.Err())
				mine := must(t, m.RLock)
				_, err = m.Lock(owner)
				require.ErrorIs(t, err, lock.ErrUpgrade)
				require.ErrorIs(t, writing.Unlock(bg), lock.ErrLost)
				_, err = other.TryLock(bg)
				require.ErrorIs(t, err, lock.ErrLocked)
				time.Sleep(2 * ttl)
				require.NoError(t, reading.Err())
				unlock(t, waits.lease)
				unlock(t, mine)
				unlock(t, reading)
				unlock(t, must(t, other.Lock))
			})
		})
	}
}

// An owner that is about to write again when that happens reads on, too: meanwhile others may have come in.
func TestOneThatReadsOnMayNotWriteAgainMeanwhile(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		c, err := lock.NewClient(virtual.NewHost(b.nodes).Clients(t), lock.WithTTL(10*time.Second))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		owner := lock.WithOwner(bg)
		writing, err := readwrite.New(c, "config", lock.WithTTL(5*time.Second), lock.WithoutWatchdog()).Lock(owner)
		require.NoError(t, err)
		reading, err := readwrite.New(c, "config", lock.WithTTL(5*time.Second)).RLock(owner)
		require.NoError(t, err)
		time.Sleep(time.Until(writing.Deadline()) - 50*time.Millisecond)
		for _, n := range b.nodes {
			n.SetDelay(40*time.Millisecond, 40*time.Millisecond)
		}
		again := start(owner, readwrite.New(c, "config", lock.WithTTL(time.Minute)).Lock) // asks the nodes for its TTL
		<-writing.Done()
		require.False(t, again.over())
		<-again.done
		require.ErrorIs(t, again.err, lock.ErrUpgrade)
		require.NoError(t, reading.Err())
		unlock(t, must(t, b.mutex(t).RLock))
		unlock(t, reading)
		next := start(bg, b.mutex(t).Lock)
		require.Less(t, next.granted(t, time.Now()), time.Second, "nothing is left of it")
		unlock(t, next.lease)
	})
}

// Nor does anything else that expires have an owner read on that is about to write again.
func TestOneThatWritesAgainMeanwhileMayThoughALeaseToReadExpires(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		c, err := lock.NewClient(virtual.NewHost(b.nodes).Clients(t), lock.WithTTL(5*time.Second))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		m, owner := readwrite.New(c, "config"), lock.WithOwner(bg)
		writing, err := m.Lock(owner)
		require.NoError(t, err)
		reading, err := m.RLock(owner)
		require.NoError(t, err)
		brief, err := readwrite.New(c, "config", lock.WithoutWatchdog()).RLock(owner)
		require.NoError(t, err)
		time.Sleep(time.Until(brief.Deadline()) - 20*time.Millisecond)
		for _, n := range b.nodes {
			n.SetDelay(40*time.Millisecond, 40*time.Millisecond)
		}
		again := start(owner, readwrite.New(c, "config", lock.WithTTL(time.Minute)).Lock) // asks the nodes for its TTL
		ends := start(bg, func(context.Context) (*lock.Lease, error) { return nil, writing.Unlock(bg) })
		<-brief.Done()
		require.False(t, again.over())
		again.granted(t, time.Now())
		<-ends.done
		require.NoError(t, ends.err)
		unlock(t, again.lease)
		unlock(t, must(t, b.mutex(t).RLock))
		unlock(t, reading)
	})
}

// But if the name is to rest after an expiry, nobody comes in for that.
func TestWhoMustNotWriteAnyMoreKeepsOthersOutWhereTheNameIsToRest(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		c, err := lock.NewClient(virtual.NewHost(b.nodes).Clients(t), lock.WithTTL(10*time.Second), lock.WithRest(time.Minute))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		owner := lock.WithOwner(bg)
		writing, err := readwrite.New(c, "config", lock.WithMaxHold(5*time.Second)).Lock(owner)
		require.NoError(t, err)
		reading, err := readwrite.New(c, "config").RLock(owner)
		require.NoError(t, err)
		<-writing.Done()
		time.Sleep(20 * time.Second)
		require.NoError(t, reading.Err())
		_, err = b.mutex(t).TryRLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		unlock(t, reading)
	})
}

func TestLossEndsAllWhoShare(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const ttl = 10 * time.Second
		h, m := b.host(t, lock.WithTTL(ttl))
		leases := []*lock.Lease{must(t, m.RLock), must(t, m.RLock), must(t, m.RLock)}
		began := time.Now()
		h.Silence(true)
		for _, l := range leases {
			<-l.Done()
			require.Less(t, time.Since(began), ttl)
			require.ErrorIs(t, l.Err(), lock.ErrLost)
			require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
		}
	})
}

func TestCloseGivesBackWhatIsShared(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		h := virtual.NewHost(b.nodes)
		c, err := lock.NewClient(h.Clients(t))
		require.NoError(t, err)
		m := readwrite.New(c, "config")
		leases := []*lock.Lease{must(t, m.RLock), must(t, m.RLock)}
		waiting := start(bg, b.mutex(t).Lock)
		released := time.Now()
		require.NoError(t, c.Close())
		for _, l := range leases {
			require.ErrorIs(t, l.Err(), lock.ErrClosed)
		}
		require.Zero(t, waiting.granted(t, released))
		unlock(t, waiting.lease)
	})
}

func TestForceUnlockEndsAllWhoReadWhereverTheyAre(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const ttl = 9 * time.Second
		here, there := b.mutex(t, lock.WithTTL(ttl)), b.mutex(t, lock.WithTTL(ttl))
		leases := []*lock.Lease{must(t, here.RLock), must(t, here.RLock), must(t, there.RLock)}
		ended, err := here.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, ended)
		unlock(t, must(t, b.mutex(t).Lock))
		for _, l := range leases {
			<-l.Done()
			var lost *lock.LeaseError
			require.ErrorAs(t, l.Err(), &lost)
			require.Equal(t, lock.ReasonForced, lost.Reason)
		}
	})
}

// One that is granted the lock by a minority of the nodes, to read or to write, does not have it, and gives it back to the
// others of its kind or not.
func TestVotesThatAreSplitBetweenTheKindsAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, 5)
		near, tries := b.host(t)
		far, waits := b.host(t)
		type call = func(context.Context) (*lock.Lease, error)
		for _, c := range []struct{ try, wait call }{
			{tries.TryRLock, waits.Lock}, {tries.TryLock, waits.RLock}, {tries.TryLock, waits.Lock},
		} {
			for i := range b.nodes {
				near.Cut(i, i >= 2)
				far.Cut(i, i == 4)
			}
			began := time.Now()
			tried := start(bg, c.try) // two nodes
			waiting := start(bg, c.wait)
			require.False(t, tried.over() || waiting.over(), "neither has a quorum")
			// The one that tries gives up, and what it has, a node timeout after; the other one is told, or asks again.
			require.LessOrEqual(t, waiting.granted(t, began), 2*time.Second)
			<-tried.done
			require.Error(t, tried.err)
			unlock(t, waiting.lease)
			for i := range b.nodes {
				near.Cut(i, false)
				far.Cut(i, false)
			}
			time.Sleep(10 * time.Second)
		}
	})
}

// Two that wait have one node each, which the other cannot reach, and the third node is down. When they can reach
// both, neither of them is in the other's way for the rest of a TTL.
func TestTwoThatHaveAMinorityEachAreServedSoon(t *testing.T) {
	for name, call := range map[string]func(m *readwrite.Mutex) func(context.Context) (*lock.Lease, error){
		"write": func(m *readwrite.Mutex) func(context.Context) (*lock.Lease, error) { return m.Lock },
		"read":  func(m *readwrite.Mutex) func(context.Context) (*lock.Lease, error) { return m.RLock },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, 3)
				one, first := b.host(t, lock.WithTTL(time.Minute))
				two, second := b.host(t, lock.WithTTL(time.Minute))
				b.nodes[1].Pause()
				one.Cut(2, true)
				two.Cut(0, true)
				served := make(chan error, 2)
				for _, lock := range []func(context.Context) (*lock.Lease, error){first.Lock, call(second)} {
					go func() {
						lease, err := lock(bg)
						if err == nil {
							err = lease.Unlock(bg)
						}
						served <- err
					}()
				}
				time.Sleep(5 * time.Second)
				require.Empty(t, served)
				one.Cut(2, false)
				two.Cut(0, false)
				for range 2 {
					select {
					case err := <-served:
						require.NoError(t, err)
					case <-time.After(10 * time.Second):
						require.Fail(t, "nobody is served")
					}
				}
				b.nodes[1].Resume()
			})
		})
	}
}

// However many ask at once.
func TestACrowdThatSplitsTheVotesIsServedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, 5)
		began := time.Now()
		var waits []*wait
		for i := range 20 {
			m := b.mutex(t)
			call := m.RLock
			if i%3 == 0 {
				call = m.Lock
			}
			w := &wait{done: make(chan struct{})}
			waits = append(waits, w)
			go func() {
				defer close(w.done)
				lease, err := call(bg)
				if err == nil {
					time.Sleep(time.Millisecond)
					err = lease.Unlock(bg)
				}
				w.err = err
			}()
		}
		for _, w := range waits {
			<-w.done
			require.NoError(t, w.err)
		}
		require.Less(t, time.Since(began), 10*time.Second, "no TTL has to pass")
	})
}

// A node that was emptied is given those who read again, and so nobody writes meanwhile.
func TestThoseWhoReadAreKeptThoughEachNodeForgetsThemInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, err := lua.NewKeys("lock", "config")
		require.NoError(t, err)
		b := &bubble{nodes: virtual.StartN(t, 5), keys: keys}
		// All have forgotten before the next renewal: what helps is that nodes are asked once a second.
		const ttl = 30 * time.Second
		m, other := b.mutex(t, lock.WithTTL(ttl)), b.mutex(t, lock.WithTTL(ttl))
		leases := []*lock.Lease{must(t, m.RLock), must(t, m.RLock), must(t, other.RLock)}
		writers := b.mutex(t)
		for range 2 {
			for _, n := range b.nodes {
				n.Flush()
				time.Sleep(1500 * time.Millisecond)
				for _, l := range leases {
					require.NoError(t, l.Err())
				}
				_, err := writers.TryLock(bg)
				require.ErrorIs(t, err, lock.ErrLocked)
			}
		}
		for _, n := range b.nodes {
			in, err := n.Memory().ZMembers(keys.Readers())
			require.NoError(t, err)
			require.Len(t, in, 2)
		}
		unlock(t, leases...)
		unlock(t, must(t, writers.Lock))
	})
}

func TestACancelledWaitLeavesNothing(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		held := must(t, other.Lock)
		synctest.Wait() // all nodes have granted it: no other is named as the holder
		ctx, cancel := context.WithCancel(bg)
		waits := []*wait{start(ctx, m.RLock), start(ctx, m.Lock), start(ctx, m.RLock)}
		cancel()
		for _, w := range waits {
			<-w.done
			require.ErrorIs(t, w.err, context.Canceled)
			var failed *lock.AcquireError
			require.True(t, errors.As(w.err, &failed))
			require.Equal(t, held.ID(), failed.Holder)
		}
		synctest.Wait()
		for _, n := range b.nodes {
			require.False(t, n.Memory().Exists(b.keys.Queue()))
			fields, err := n.Memory().HKeys(b.keys.Waiters())
			require.NoError(t, err)
			require.Equal(t, []string{held.ID() + " floor"}, fields, "it is the holder's")
		}
		unlock(t, held)
		synctest.Wait()
		for _, n := range b.nodes {
			require.False(t, n.Memory().Exists(b.keys.Lock))
			require.False(t, n.Memory().Exists(b.keys.Readers()))
			require.False(t, n.Memory().Exists(b.keys.Waiters()))
		}
	})
}

// A node that lacks the writer lets readers in, one after the other, and a quorum does not. They tell each
// other nothing by that, or both would ask again all the time.
func TestReadersThatAMinorityLetsInDoNotWakeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, 3)
		for _, n := range b.nodes[1:] {
			n.Memory().HSet(b.keys.Lock, "other:1w", "1")
			n.Memory().SetTTL(b.keys.Lock, time.Hour)
		}
		ctx, cancel := context.WithCancel(bg)
		var waiting []*wait
		for range 2 {
			waiting = append(waiting, start(ctx, b.mutex(t).RLock))
		}
		time.Sleep(time.Second)
		before := b.scripts()
		time.Sleep(time.Second)
		require.Less(t, b.scripts()-before, 100)
		cancel()
		for _, w := range waiting {
			<-w.done
			require.ErrorIs(t, w.err, context.Canceled)
		}
	})
}

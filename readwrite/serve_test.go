package readwrite_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// warm has m's process have a tenure that writes, with somebody who reads within it, and tokens in reserve.
func (b *bubble) warm(t *testing.T, m *readwrite.Mutex) (reading *lock.Lease) {
	t.Helper()
	first := must(t, m.Lock)
	time.Sleep(time.Millisecond) // a reserve has a token for each microsecond at the most
	second := start(bg, m.Lock)
	reader := start(bg, m.RLock)
	unlock(t, first)
	second.granted(t, time.Now())
	unlock(t, second.lease)
	reader.granted(t, time.Now())
	require.Contains(t, reader.lease.ID(), first.ID()+".")
	synctest.Wait()
	return reader.lease
}

// A process that nobody else is in the way of asks the nodes for who waits, and for tokens, and for nothing else.
func TestAProcessThatIsAloneReadsAndWritesWithoutACommand(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		last := b.warm(t, m)
		token := last.Token()
		before := b.scripts()
		const rounds = 200 // of a millisecond
		for range rounds {
			began := time.Now()
			writer := start(bg, m.Lock)
			later := start(bg, m.RLock)
			require.False(t, later.over(), "it came after the writer")
			unlock(t, last)
			require.Zero(t, writer.granted(t, began))
			require.Greater(t, writer.lease.Token(), token, "each that writes has a token of its own")
			token = writer.lease.Token()
			require.False(t, later.over())
			unlock(t, writer.lease)
			require.Zero(t, later.granted(t, began))
			joined := must(t, m.RLock)
			for _, reading := range []*lock.Lease{later.lease, joined} {
				require.Equal(t, token, reading.Token(), "that of who wrote last")
				id, _, _ := strings.Cut(reading.ID(), ".")
				require.True(t, strings.HasPrefix(writer.lease.ID(), id+"."))
			}
			unlock(t, joined)
			last = later.lease
			time.Sleep(time.Millisecond)
		}
		require.LessOrEqual(t, (b.scripts()-before)/len(b.nodes), rounds/25+8)
		unlock(t, last)
		time.Sleep(time.Second)
		other := must(t, b.mutex(t).RLock)
		require.Equal(t, token, other.Token(), "what was reserved and not given out is taken back")
		unlock(t, other)
		next := must(t, m.Lock)
		require.Greater(t, next.Token(), token)
		unlock(t, next)
	})
}

// First come, first served, and those that read and stand together enter together.
func TestTurnsWithinAProcessAreInTheOrderOfArrival(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		leases := []*lock.Lease{b.warm(t, m)}
		order := [][]*wait{
			{start(bg, m.Lock)},
			{start(bg, m.RLock), start(bg, m.RLock), start(bg, m.RLock)},
			{start(bg, m.Lock)},
			{start(bg, m.Lock)},
			{start(bg, m.RLock)},
			{start(bg, m.Lock)},
			{start(bg, m.RLock), start(bg, m.RLock)},
		}
		for i, together := range order {
			for _, l := range leases {
				for _, w := range together {
					require.False(t, w.over())
				}
				unlock(t, l)
			}
			leases = nil
			for _, w := range together {
				require.Zero(t, w.granted(t, time.Now()))
				leases = append(leases, w.lease)
			}
			for _, later := range order[i+1:] {
				for _, w := range later {
					require.False(t, w.over())
				}
			}
		}
		unlock(t, leases...)
		unlock(t, must(t, b.mutex(t).Lock))
	})
}

// Who begins to wait elsewhere comes after those who wait here already, and before all who come later.
func TestOneElsewhereIsServedInItsTurn(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		for _, call := range []func(context.Context) (*lock.Lease, error){other.Lock, other.RLock} {
			reading := b.warm(t, m)
			w1, r1 := start(bg, m.Lock), start(bg, m.RLock)
			stranger := start(bg, call)
			w2, r2 := start(bg, m.Lock), start(bg, m.RLock)
			joins, err := m.TryRLock(bg)
			require.ErrorIs(t, err, lock.ErrLocked, "%v", joins)
			for _, c := range []struct {
				before *lock.Lease
				next   *wait
				later  []*wait
			}{
				{reading, w1, []*wait{r1, stranger, w2, r2}},
				{nil, r1, []*wait{w2, r2}},
				{nil, stranger, []*wait{w2, r2}},
				{nil, w2, []*wait{r2}},
				{nil, r2, nil},
			} {
				if c.before != nil {
					unlock(t, c.before)
				}
				c.next.granted(t, time.Now())
				synctest.Wait()
				for _, w := range c.later {
					if w == stranger && c.next == r1 {
						continue
					}
					require.False(t, w.over())
				}
				if c.next != r1 {
					unlock(t, c.next.lease)
					continue
				}
				if stranger.over() { // it reads, too
					require.NotEqual(t, "", stranger.lease.ID())
				}
				unlock(t, r1.lease)
			}
			time.Sleep(time.Second)
		}
	})
}

// One that reads elsewhere comes in as soon as it is known, if those who are in read, too, though their process has
// the lock alone until then.
func TestOneElsewhereThatReadsComesInWhereOthersRead(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		reading := b.warm(t, m)
		began := time.Now()
		stranger := start(bg, other.RLock)
		require.Zero(t, stranger.granted(t, began))
		require.NoError(t, reading.Err())
		require.Equal(t, reading.Token(), stranger.lease.Token())
		writer := start(bg, m.Lock)
		require.False(t, writer.over())
		unlock(t, reading)
		synctest.Wait()
		require.False(t, writer.over())
		unlock(t, stranger.lease)
		writer.granted(t, time.Now())
		require.Greater(t, writer.lease.Token(), reading.Token())
		unlock(t, writer.lease)
	})
}

// So does one whose message is lost, and one that does not wait.
func TestATenureInWhichNobodyWritesAnyMoreReads(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		reading := b.warm(t, m)
		b.mute(true)
		began := time.Now()
		stranger := start(bg, other.RLock)
		require.False(t, stranger.over())
		_, err := other.TryRLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		s, err := other.Inspect(bg)
		require.NoError(t, err)
		require.Empty(t, s.Readers)
		require.True(t, strings.HasPrefix(reading.ID(), s.Holder+"."))
		time.Sleep(20 * time.Millisecond)
		b.mute(false) // what its turn is told by is another message
		time.Sleep(45 * time.Millisecond)
		require.LessOrEqual(t, stranger.granted(t, began), 50*time.Millisecond)
		s, err = other.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, s.Readers, 2)
		require.Equal(t, reading.Token(), stranger.lease.Token())
		unlock(t, must(t, other.TryRLock), stranger.lease)
		require.NoError(t, reading.Err())
		unlock(t, reading)
		unlock(t, must(t, other.TryLock))
	})
}

// It does so in time, the way to the nodes included, whenever in the course of its looks the last writer has finished.
func TestOthersMayReadSoonAfterTheLastWriter(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		for _, trip := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
			for into := time.Duration(0); into < 10*time.Millisecond; into += time.Millisecond {
				b.delay(trip)
				writing := must(t, m.Lock)
				reader := start(bg, m.RLock)
				time.Sleep(into)
				unlock(t, writing)
				ended := time.Now()
				reader.granted(t, ended)
				require.Contains(t, reader.lease.ID(), writing.ID()+".", "within the tenure of the writer")
				b.delay(0) // of the one that asks; what is on its way already takes its time
				var reading *lock.Lease
				for reading == nil {
					b.delay(trip)
					time.Sleep(time.Millisecond)
					b.delay(0)
					reading, _ = other.TryRLock(bg)
				}
				require.LessOrEqual(t, time.Since(ended), 50*time.Millisecond, "%v away, %v after a look", trip, into)
				unlock(t, reading, reader.lease)
				synctest.Wait()
			}
		}
	})
}

// It goes on though those who read come and go all the time.
func TestAProcessThatOnlyReadsKeepsNobodyElseFromReading(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		last := b.warm(t, m)
		b.mute(true)
		refused := 0
		for range 100 {
			next := must(t, m.RLock)
			unlock(t, last)
			last = next
			if lease, err := other.TryRLock(bg); err == nil {
				unlock(t, lease)
			} else {
				refused++
			}
			time.Sleep(time.Millisecond)
		}
		require.LessOrEqual(t, refused, 50)
		b.mute(false)
		unlock(t, last)
	})
}

// If its message is lost, too, nobody who comes here later is served before it for long, whether those who come read or
// write.
func TestOneElsewhereWhoseMessageIsLostIsNotPassedForLong(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		last := b.warm(t, m)
		b.mute(true)
		began := time.Now()
		stranger := start(bg, other.Lock)
		var passed time.Time // who came later was served at
		for time.Since(began) < 300*time.Millisecond {
			came := time.Now()
			writer, reader := start(bg, m.Lock), start(bg, m.RLock)
			unlock(t, last)
			synctest.Wait()
			if !writer.over() {
				break
			}
			unlock(t, writer.lease)
			synctest.Wait()
			if !reader.over() {
				break
			}
			passed, last = came, reader.lease
			time.Sleep(time.Millisecond)
		}
		require.Less(t, passed.Sub(began), 51*time.Millisecond)
		require.Greater(t, passed.Sub(began), 10*time.Millisecond, "it is not known before the nodes are asked again")
		b.mute(false)
		require.LessOrEqual(t, stranger.granted(t, began), 5*time.Second) // by a sign of life
		unlock(t, stranger.lease)
	})
}

// Who waits for longer stands in the queue on the nodes, with all others; and leaves it when its turn comes within its process.
func TestWhoWaitsWithinAProcessIsSeenOnTheNodes(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		reading := b.warm(t, m)
		writer, second, third := start(bg, m.Lock), start(bg, m.RLock), start(bg, m.RLock)
		b.requireQueued(t, 0)
		time.Sleep(25 * time.Millisecond)
		b.requireQueued(t, 2) // those who read share a place
		s, err := other.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, s.Waits, 2)
		require.False(t, s.Waits[0].Reads)
		require.True(t, s.Waits[1].Reads)
		time.Sleep(time.Second)
		released := time.Now()
		unlock(t, reading)
		require.Zero(t, writer.granted(t, released))
		require.NotEqual(t, s.Waits[0].Hold, writer.lease.ID(), "within the tenure that was there")
		require.Equal(t, strings.SplitN(reading.ID(), ".", 2)[0], strings.SplitN(writer.lease.ID(), ".", 2)[0])
		time.Sleep(time.Millisecond)
		b.requireQueued(t, 1)
		unlock(t, writer.lease)
		for _, w := range []*wait{second, third} {
			require.Zero(t, w.granted(t, time.Now().Add(-time.Millisecond))-time.Millisecond)
		}
		time.Sleep(time.Millisecond)
		b.requireQueued(t, 0)
		unlock(t, second.lease, third.lease)
		unlock(t, must(t, other.Lock))
	})
}

// One whose place on the nodes is before that of somebody else keeps it when that one comes.
func TestWhoWaitsWithinAProcessKeepsItsTurnWhenOneElsewhereComes(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		reading := b.warm(t, m)
		first := start(bg, m.Lock)
		time.Sleep(100 * time.Millisecond)
		stranger := start(bg, other.Lock)
		last := start(bg, m.Lock)
		unlock(t, reading)
		for _, w := range []*wait{first, stranger, last} {
			w.granted(t, time.Now())
			unlock(t, w.lease)
		}
		require.Less(t, first.lease.Token(), stranger.lease.Token())
		require.Less(t, stranger.lease.Token(), last.lease.Token())
	})
}

// Who comes when somebody elsewhere waits goes to the nodes, and is there behind those of its process who have waited for longer,
// or has its turn after theirs.
func TestNobodyIsPassedByOneOfItsProcessWhoCameLater(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		// One that waits for a turn here keeps it, however long that takes.
		reading := b.warm(t, m)
		writer, stranger := start(bg, m.Lock), start(bg, other.RLock)
		later := start(bg, m.RLock)
		time.Sleep(200 * time.Millisecond)
		require.False(t, later.over())
		unlock(t, reading)
		writer.granted(t, time.Now())
		require.False(t, stranger.over() || later.over())
		unlock(t, writer.lease)
		stranger.granted(t, time.Now())
		later.granted(t, time.Now())
		unlock(t, stranger.lease, later.lease)

		// One behind somebody who stands on the nodes goes there, too, before others come.
		reading = b.warm(t, m)
		writer = start(bg, m.Lock)
		unlock(t, reading)
		writer.granted(t, time.Now())
		first := start(bg, m.Lock)
		time.Sleep(25 * time.Millisecond)
		b.requireQueued(t, 1)
		second := start(bg, m.Lock)
		b.requireQueued(t, 1)
		stranger = start(bg, other.Lock)
		b.requireQueued(t, 3)
		later = start(bg, m.RLock)
		unlock(t, writer.lease)
		for _, w := range []*wait{first, stranger, second, later} {
			w.granted(t, time.Now())
			unlock(t, w.lease)
		}
		require.Less(t, first.lease.Token(), stranger.lease.Token())
		require.Less(t, stranger.lease.Token(), second.lease.Token())
		require.Equal(t, second.lease.Token(), later.lease.Token(), "it has read what the last one wrote")
	})
}

// One that gives up leaves nobody behind it asleep, nor what it was passed.
func TestAWriterThatGivesUpLetsThoseBehindItRead(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		for _, waits := range []time.Duration{0, time.Second} { // with no place on the nodes, and with one
			m := b.mutex(t)
			reading := b.warm(t, m)
			ctx, cancel := context.WithCancel(bg)
			writer := start(ctx, m.Lock)
			readers := []*wait{start(bg, m.RLock), start(bg, m.RLock)}
			time.Sleep(waits)
			cancelled := time.Now()
			cancel()
			<-writer.done
			require.ErrorIs(t, writer.err, context.Canceled)
			for _, r := range readers {
				require.Zero(t, r.granted(t, cancelled))
				unlock(t, r.lease)
			}
			unlock(t, reading)
			unlock(t, must(t, b.mutex(t).Lock))
			time.Sleep(time.Second)
			b.requireQueued(t, 0)
		}
	})
}

// Leases that must not share a tenure have one of their own, in their turn.
func TestOtherSettingsAreNotServedWithinATenure(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		h := virtual.NewHost(b.nodes)
		c, err := lock.NewClient(h.Clients(t))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		m := readwrite.New(c, "config")
		for _, opt := range []lock.Option{
			lock.WithTTL(10 * time.Second), lock.WithoutWatchdog(), lock.WithMinHold(time.Millisecond),
			lock.WithRest(time.Second), lock.WithNote("another"),
		} {
			other := readwrite.New(c, "config", opt)
			for _, call := range []func(context.Context) (*lock.Lease, error){other.Lock, other.RLock} {
				reading := b.warm(t, m)
				w := start(bg, m.Lock)
				alien := start(bg, call)
				b.requireQueued(t, 1)
				later := start(bg, m.RLock)
				tenure, _, _ := strings.Cut(reading.ID(), ".")
				unlock(t, reading)
				w.granted(t, time.Now())
				require.Contains(t, w.lease.ID(), tenure+".")
				require.False(t, alien.over() || later.over())
				unlock(t, w.lease)
				alien.granted(t, time.Now())
				require.NotContains(t, alien.lease.ID(), tenure)
				unlock(t, alien.lease)
				later.granted(t, time.Now())
				unlock(t, later.lease)
				time.Sleep(time.Second)

				fixed := must(t, call)
				next := start(bg, m.Lock)
				unlock(t, fixed)
				next.granted(t, time.Now())
				require.NotContains(t, next.lease.ID(), fixed.ID())
				unlock(t, next.lease)
				time.Sleep(time.Second)
			}
		}
	})
}

// What an owner may do and not do is the same within a tenure.
func TestOwnersWithinATenure(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		reading := b.warm(t, m)
		ctx := reading.Context(bg)
		for _, write := range []func(context.Context) (*lock.Lease, error){m.Lock, m.TryLock} {
			_, err := write(ctx)
			require.ErrorIs(t, err, lock.ErrUpgrade)
		}
		_, err := m.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked, "others read")
		again, err := m.RLock(ctx)
		require.NoError(t, err)
		require.Equal(t, 2, again.Count())
		require.Equal(t, reading.ID(), again.ID())
		writer := start(bg, m.Lock)
		unlock(t, again)
		require.False(t, writer.over(), "it still reads")
		unlock(t, reading)
		writer.granted(t, time.Now())

		_, err = m.TryRLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked, "another one writes")
		ctx = writer.lease.Context(bg)
		more, err := m.Lock(ctx)
		require.NoError(t, err)
		require.Equal(t, writer.lease.Token(), more.Token())
		below, err := m.RLock(ctx)
		require.NoError(t, err)
		here, there := start(bg, m.RLock), start(bg, other.RLock)
		unlock(t, more)
		require.False(t, here.over() || there.over())
		began := time.Now()
		unlock(t, writer.lease) // it goes on reading
		here.granted(t, began)
		there.granted(t, began)
		require.Equal(t, below.Token(), here.lease.Token())
		require.Equal(t, below.Token(), there.lease.Token())
		_, err = m.Lock(below.Context(bg))
		require.ErrorIs(t, err, lock.ErrUpgrade)
		require.NoError(t, below.Err())
		unlock(t, below, here.lease, there.lease)
		unlock(t, must(t, other.Lock))
	})
}

// A loss ends all who are in, is noticed soon while turns are taken, and nobody's turn comes within what is lost.
func TestALossIsSeenWhileTurnsAreTaken(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		readers := []*lock.Lease{b.warm(t, m), must(t, m.RLock)}
		for _, n := range b.nodes {
			n.Delete(b.keys.Lock)
		}
		lost := time.Now()
		for readers[0].Err() == nil {
			readers = append(readers, must(t, m.RLock))
			time.Sleep(time.Millisecond)
		}
		require.LessOrEqual(t, time.Since(lost), 30*time.Millisecond, "with the next question")
		for _, l := range readers {
			require.ErrorIs(t, l.Err(), lock.ErrLost)
			require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
		}
		writer := must(t, m.Lock)
		require.NotContains(t, writer.ID(), strings.SplitN(readers[0].ID(), ".", 2)[0])
		unlock(t, writer)
	})
}

func TestForceUnlockEndsAllWhoHaveTheirTurnWithinATenure(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		readers := []*lock.Lease{b.warm(t, m), must(t, m.RLock)}
		writer := start(bg, m.Lock)
		ended, err := m.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, ended)
		for _, l := range readers {
			var lost *lock.LeaseError
			require.ErrorAs(t, l.Err(), &lost)
			require.Equal(t, lock.ReasonForced, lost.Reason)
		}
		writer.granted(t, time.Now())
		unlock(t, writer.lease)
		unlock(t, must(t, other.Lock))
	})
}

func TestCloseAndShutdownEndTheTurnsOfAProcess(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		for _, shutdown := range []bool{false, true} {
			h := virtual.NewHost(b.nodes)
			c, err := lock.NewClient(h.Clients(t))
			require.NoError(t, err)
			m, other := readwrite.New(c, "config"), b.mutex(t)
			reading := b.warm(t, m)
			waits := []*wait{start(bg, m.Lock), start(bg, m.RLock)}
			done := make(chan error, 1)
			if shutdown {
				go func() { done <- c.Shutdown(bg) }()
				synctest.Wait()
				require.NoError(t, reading.Err())
			} else {
				done <- c.Close()
				require.ErrorIs(t, reading.Err(), lock.ErrClosed)
			}
			for _, w := range waits {
				<-w.done
				require.ErrorIs(t, w.err, lock.ErrClosed)
			}
			if shutdown {
				unlock(t, reading)
			}
			require.NoError(t, <-done)
			unlock(t, must(t, other.TryLock))
		}
	})
}

// While renewals fail, and with little of its TTL left, nobody begins within a tenure (U2); nor without tokens (U3).
func TestNobodyBeginsWithinATenureThatMayBeOver(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		const ttl = 12 * time.Second
		h, m := b.host(t, lock.WithTTL(ttl))
		reading := b.warm(t, m)
		h.Silence(true)
		began := time.Now()
		time.Sleep(60 * time.Millisecond) // for so long the nodes have been heard lately enough
		var waits []*wait
		for time.Since(began) < ttl {
			waits = append(waits, start(bg, m.RLock), start(bg, m.Lock))
			time.Sleep(time.Second)
		}
		require.ErrorIs(t, reading.Err(), lock.ErrLost)
		for _, w := range waits {
			require.False(t, w.over())
		}
		h.Silence(false)
		var done sync.WaitGroup
		for _, w := range waits { // their order is that in which the nodes have heard of them
			done.Go(func() {
				<-w.done
				assert.NotContains(t, w.lease.ID(), strings.SplitN(reading.ID(), ".", 2)[0])
				assert.NoError(t, w.lease.Unlock(bg))
			})
		}
		done.Wait()
		require.ErrorIs(t, reading.Unlock(bg), lock.ErrLost)
	})
}

// One that is not renewed ends alone, and those who wait for it are served.
func TestOneThatMayNotGoOnEndsAloneWithinATenure(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		h := virtual.NewHost(b.nodes)
		c, err := lock.NewClient(h.Clients(t), lock.WithTTL(9*time.Second))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		m, brief := readwrite.New(c, "config"), readwrite.New(c, "config", lock.WithMaxHold(4*time.Second))
		reading := b.warm(t, m)
		writer := start(bg, brief.Lock)
		unlock(t, reading)
		writer.granted(t, time.Now())
		began := time.Now()
		later := start(bg, m.RLock)
		<-writer.lease.Done()
		var lost *lock.LeaseError
		require.ErrorAs(t, writer.lease.Err(), &lost)
		require.Equal(t, lock.ReasonMaxHold, lost.Reason)
		require.LessOrEqual(t, later.granted(t, began), 14*time.Second)
		require.NoError(t, later.lease.Err())
		unlock(t, later.lease)
	})
}

// What observers are told of a turn within a tenure.
func TestObserversOfTurnsWithinATenure(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		var mu sync.Mutex
		began, ended := make(map[string][]lock.Handover), make(map[string]int)
		m := b.mutex(t, lock.WithObserver(lock.Observer{
			Ended: func(_ context.Context, a lock.Acquisition) {
				mu.Lock()
				defer mu.Unlock()
				began[a.Mode] = append(began[a.Mode], a.Handover)
			},
			HoldEnded: func(_ context.Context, e lock.HoldEnd) {
				mu.Lock()
				defer mu.Unlock()
				ended[e.Mode]++
			},
		}))
		reading := b.warm(t, m)
		unlock(t, must(t, m.RLock), reading)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, map[string][]lock.Handover{
			"write": {lock.HandoverFree, lock.HandoverPassed},
			"read":  {lock.HandoverPassed, lock.HandoverPassed},
		}, began)
		require.Equal(t, map[string]int{"write": 2, "read": 2}, ended)
	})
}

// Whose wake-up is lost, of those who wait to write, waits for no more than a sign of life longer (I6).
func TestALostWakeUpCostsAWriterNoMoreThanASignOfLife(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other, third := b.mutex(t), b.mutex(t), b.mutex(t)
		for _, hold := range []func(context.Context) (*lock.Lease, error){m.Lock, m.RLock} {
			held := must(t, hold)
			writer, last := start(bg, other.Lock), start(bg, third.Lock)
			time.Sleep(time.Second)
			b.mute(true)
			released := time.Now()
			unlock(t, held)
			require.LessOrEqual(t, writer.granted(t, released), 3*time.Second)
			released = time.Now()
			unlock(t, writer.lease)
			require.LessOrEqual(t, last.granted(t, released), 3*time.Second)
			b.mute(false)
			unlock(t, last.lease)
			time.Sleep(time.Second)
		}
	})
}

// While the nodes answer with errors nobody begins, however lately they were heard.
func TestATenureWhoseNodesRefuseServesNobody(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		reading := b.warm(t, m)
		time.Sleep(26 * time.Millisecond) // the nodes are asked by who comes next
		for _, n := range b.nodes {
			n.Refuse(func(args []string) bool { return args[0] == "EVALSHA" })
		}
		unlock(t, must(t, m.TryRLock))
		synctest.Wait()
		_, err := m.TryRLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		for _, n := range b.nodes {
			n.Refuse(nil)
		}
		require.NoError(t, reading.Err())
		unlock(t, reading)
	})
}

// The grant itself may be what tells of one who waits elsewhere.
func TestAGrantToWriteTellsWhoElseWaits(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		held := must(t, other.Lock)
		first, stranger := start(bg, m.Lock), start(bg, other.Lock)
		unlock(t, held)
		first.granted(t, time.Now())
		later := start(bg, m.RLock)
		unlock(t, first.lease)
		stranger.granted(t, time.Now())
		require.False(t, later.over())
		unlock(t, stranger.lease)
		later.granted(t, time.Now())
		unlock(t, later.lease)
	})
}

// One with other settings that has a place on the nodes keeps its turn, and has it by the nodes.
func TestOtherSettingsWaitingOnTheNodesAreNotServedWithinATenure(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		h := virtual.NewHost(b.nodes)
		c, err := lock.NewClient(h.Clients(t))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		m, alien, other := readwrite.New(c, "config"), readwrite.New(c, "config", lock.WithTTL(10*time.Second)), b.mutex(t)
		for _, call := range []func(context.Context) (*lock.Lease, error){alien.Lock, alien.RLock} {
			held := must(t, other.Lock)
			waits := []*wait{start(bg, m.Lock), start(bg, call), start(bg, m.RLock)}
			unlock(t, held)
			for i, w := range waits {
				w.granted(t, time.Now())
				for _, before := range waits[:i] {
					require.NotContains(t, w.lease.ID(), before.lease.ID())
				}
				unlock(t, w.lease)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestOneWithOtherSettingsThatTriesIsNotLetIn(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		h := virtual.NewHost(b.nodes)
		c, err := lock.NewClient(h.Clients(t))
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		m, fixed := readwrite.New(c, "config"), readwrite.New(c, "config", lock.WithoutWatchdog())
		reading := b.warm(t, m)
		_, err = fixed.TryRLock(bg)
		require.ErrorIs(t, err, lock.ErrLocked)
		unlock(t, must(t, m.TryRLock), reading)
	})
}

// No token is given out before a quorum knows of it (U3).
func TestATokenWithinATenureIsKnownToAQuorumBefore(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m := b.mutex(t)
		unlock(t, must(t, m.Lock)) // the counters agree from now on
		time.Sleep(time.Second)
		const trip = 2 * time.Millisecond
		b.delay(trip)
		first := must(t, m.Lock)
		second, third := start(bg, m.Lock), start(bg, m.Lock)
		began := time.Now()
		unlock(t, first) // it is the next one that has to wait
		for _, w := range []*wait{second, third} {
			w.granted(t, began)
			known := 0
			for _, n := range b.nodes {
				counter, err := n.Memory().Get(b.keys.Token())
				require.NoError(t, err)
				last, err := strconv.ParseInt(counter, 10, 64)
				require.NoError(t, err)
				known += choose(last >= w.lease.Token())
			}
			require.Greater(t, 2*known, len(b.nodes))
			require.Contains(t, w.lease.ID(), first.ID()+".")
			unlock(t, w.lease)
		}
		require.LessOrEqual(t, second.ended.Sub(began), 2*trip)
	})
}

// Of one elsewhere whose message is lost this process does not know for how long it has waited: nobody here is served before it
// who may have come later.
func TestWhoComesAfterOneWhoseMessageIsLostIsBehindIt(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		reading := b.warm(t, m)
		writer := start(bg, m.Lock)
		unlock(t, reading)
		writer.granted(t, time.Now())
		b.mute(true)
		stranger := start(bg, other.Lock)
		time.Sleep(100 * time.Millisecond)
		b.mute(false)
		later := start(bg, m.RLock)
		unlock(t, writer.lease)
		stranger.granted(t, time.Now())
		require.False(t, later.over())
		unlock(t, stranger.lease)
		later.granted(t, time.Now())
		unlock(t, later.lease)
	})
}

// When the nodes were not heard for a while, whose turn comes waits for their answer (U4).
func TestNobodyBeginsWithinATenureOnOldNews(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		h, m := b.host(t)
		reading := b.warm(t, m)
		writer := start(bg, m.Lock)
		unlock(t, reading)
		writer.granted(t, time.Now())
		h.Silence(true)
		time.Sleep(60 * time.Millisecond)
		later := start(bg, m.RLock)
		unlock(t, writer.lease)
		synctest.Wait()
		require.False(t, later.over())
		h.Silence(false)
		later.granted(t, time.Now())
		unlock(t, later.lease)
	})
}

// Nodes that cannot take it in when they are told that a tenure reads from now on let nobody else read. They are told
// again soon, and not just with the next regular renewal.
func TestNodesThatDidNotHearThatATenureReadsAreToldAgainSoon(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		reading := b.warm(t, m)
		refuse := func(match func([]string) bool) {
			for _, n := range b.nodes {
				n.Refuse(match)
			}
		}
		time.Sleep(20 * time.Millisecond)
		refuse(func(args []string) bool { return slices.Contains([]string{"EVALSHA", "EVAL"}, args[0]) })
		time.Sleep(40 * time.Millisecond) // by then nobody has written for long
		refuse(nil)
		time.Sleep(time.Second)
		unlock(t, must(t, other.TryRLock), reading)
	})
}

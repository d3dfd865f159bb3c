package conformance

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// exclusive are the rules that say of every two holders that one has the lock without the other. Where holders
// leave room for each other, sharing has others in place of them.
var exclusive = []string{
	"EachHoldHasAGreaterToken", "TokenGrowsThoughTheOwnerIsTheSame", "TokenGrowsAfterForceUnlock",
	"TokensGrowThoughNodesForgetTheirCounters", "TokensGrowThoughCountersDiffer",
	"OwnershipOfOneLockIsNoneOfAnother", "ScopesExcludeEachOther",
	"WaitersAreServedInTheOrderOfTheirArrival", "WhoIsServedLeavesTheQueue", "EveryWaiterOfACrowdIsServed",
}

// sharing is for kinds whose holders leave room for each other, and none for a rival: for who reads where others write.
var sharing = rules{
	"ThoseWhoReadShare": func(t *stage) {
		r, w := t.sides()
		r2, w2 := t.sides()
		readers := []*lock.Lease{t.acquire(bg, r), t.acquire(bg, r), t.acquire(bg, r2), t.acquire(bg, r2)}
		for _, other := range []Mutex{w, w2} {
			_, err := t.try(other)
			require.ErrorIs(t, err, lock.ErrLocked)
		}
		for i, lease := range readers {
			require.Equal(t, 1, lease.Count())
			for _, other := range readers[:i] {
				require.NotEqual(t, other.ID(), lease.ID(), "each has a hold of its own")
			}
		}
		s := t.inspect(r)
		require.True(t, s.Held)
		require.Contains(t, s.Readers, readers[0].ID())
		require.Equal(t, s.Readers[0], s.Holder)
		t.unlock(readers[1:]...)
		_, err := t.try(w2)
		require.ErrorIs(t, err, lock.ErrLocked, "one still reads")
		t.unlock(readers[0])
		lease, err := t.try(w2)
		require.NoError(t, err)
		require.Empty(t, t.inspect(r).Readers)
		_, err = t.try(r)
		require.ErrorIs(t, err, lock.ErrLocked)
		t.unlock(lease)
	},

	"WhoReadsHasTheTokenOfWhoWroteLast": func(t *stage) {
		r, w := t.sides()
		r2, w2 := t.sides()
		for range 4 {
			for _, writer := range []Mutex{w, w2} {
				written := t.acquire(bg, writer)
				t.requireCounters(writer)
				t.unlock(written)
				a, b := t.acquire(bg, r), t.acquire(bg, r2)
				require.Equal(t, written.Token(), a.Token())
				require.Equal(t, written.Token(), b.Token())
				t.unlock(a, b)
				again := t.acquire(bg, w)
				require.Greater(t, again.Token(), written.Token())
				t.unlock(again)
			}
		}
	},

	"ThereIsOneQueueForBoth": func(t *stage) {
		ra, wa := t.sides()
		rb, wb := t.sides()
		rc, _ := t.sides() // whose process has nobody yet with whom the last one could share a place
		held := t.acquire(bg, wa)
		t.requireCounters(wa)
		// Two that read, one that writes, two that read.
		r1, r2 := t.asleep(bg, ra), t.asleep(bg, rb)
		w1 := t.asleep(bg, wb)
		r3, r4 := t.asleep(bg, rb), t.asleep(bg, rc)
		s := t.inspect(wa)
		var reads []bool
		for _, w := range s.Waits {
			reads = append(reads, w.Reads)
		}
		require.Equal(t, []bool{true, true, false, true, true}, reads)
		t.unlock(held)
		first, second := r1.granted(t), r2.granted(t)
		for _, c := range []*call{w1, r3, r4} {
			require.False(t, c.over())
		}
		t.unlock(first, second)
		held = w1.granted(t)
		require.False(t, r3.over() || r4.over())
		require.Greater(t, held.Token(), second.Token())
		t.unlock(held)
		first, second = r3.granted(t), r4.granted(t)
		require.Equal(t, held.Token(), first.Token())
		t.unlock(first, second)
	},

	"NobodyWhoReadsPassesOneWhoWaitsToWrite": func(t *stage) {
		r, w := t.sides()
		r2, _ := t.sides()
		first := t.acquire(bg, r)
		writer := t.asleep(bg, w)
		_, err := t.try(r2)
		require.ErrorIs(t, err, lock.ErrLocked)
		t.hears(r)
		later := t.asleep(bg, r2)
		t.unlock(first)
		lease := writer.granted(t)
		require.False(t, later.over())
		t.unlock(lease)
		t.unlock(later.granted(t))
	},

	"WriterThatCancelsLetsThoseBehindItIn": func(t *stage) {
		r, _ := t.sides()
		r2, w2 := t.sides()
		t.requirePrompt(func() bool {
			first := t.acquire(bg, r)
			ctx, cancel := context.WithCancel(bg)
			writer := t.asleep(ctx, w2)
			t.hears(r)
			later, another := t.asleep(bg, r2), t.asleep(bg, r)
			cancel()
			require.ErrorIs(t, writer.failed(t), context.Canceled)
			a, prompt := later.prompt(t)
			b, promptToo := another.prompt(t)
			t.unlock(first, a, b)
			return prompt && promptToo
		})
	},

	"WhoWritesMayReadAndGoOnReading": func(t *stage) {
		r, w := t.sides()
		r2, w2 := t.sides()
		t.requirePrompt(func() bool {
			writing := t.acquire(bg, w)
			t.requireCounters(w)
			reading := t.acquire(writing.Context(bg), r)
			require.Equal(t, writing.ID(), reading.ID())
			require.Equal(t, 2, reading.Count())
			_, err := t.try(r2)
			require.ErrorIs(t, err, lock.ErrLocked, "it still writes")
			waiting, writer := t.asleep(bg, r2), t.asleep(bg, w2)
			t.unlock(writing)
			other, prompt := waiting.prompt(t)
			require.NoError(t, reading.Err())
			require.Equal(t, writing.Token(), reading.Token())
			require.Equal(t, writing.Token(), other.Token())
			require.False(t, writer.over())
			require.NoError(t, reading.Extend(bg, time.Minute))
			_, err = w.TryLock(reading.Context(bg))
			require.ErrorIs(t, err, lock.ErrUpgrade, "it does not write any more")
			t.unlock(reading, other)
			t.unlock(writer.granted(t))
			return prompt
		})
	},

	"ReadingMayEndBeforeWritingDoes": func(t *stage) {
		r, w := t.sides()
		r2, _ := t.sides()
		writing := t.acquire(bg, w)
		reading := t.acquire(writing.Context(bg), r)
		again := t.acquire(reading.Context(bg), w)
		t.unlock(reading)
		_, err := t.try(r2)
		require.ErrorIs(t, err, lock.ErrLocked)
		t.unlock(writing, again)
		lease, err := t.try(r2)
		require.NoError(t, err)
		t.unlock(lease)
	},

	"WhoReadsIsRefusedToWrite": func(t *stage) {
		r, w := t.sides()
		scope := lock.WithOwner(bg)
		reading := t.acquire(scope, r)
		for _, ctx := range []context.Context{scope, reading.Context(bg)} {
			for _, write := range []func(context.Context) (*lock.Lease, error){w.Lock, w.TryLock} {
				ctx, cancel := context.WithTimeout(ctx, within)
				_, err := write(ctx)
				cancel()
				require.ErrorIs(t, err, lock.ErrUpgrade)
				require.ErrorContains(t, err, t.name)
			}
		}
		require.NoError(t, reading.Err())
		t.unlock(reading)
		t.unlock(t.acquire(scope, w))
	},

	"WhoComesToReadWhileItWaitsToWriteIsRefusedToWrite": func(t *stage) {
		r, w := t.sides()
		_, w2 := t.sides()
		scope := lock.WithOwner(bg)
		held := t.acquire(bg, w2)
		reader := t.asleep(scope, r)
		writer := t.asleep(scope, w)
		t.unlock(held)
		reading := reader.granted(t)
		require.ErrorIs(t, writer.failed(t), lock.ErrUpgrade)
		t.unlock(reading)
	},

	"ReaderThatCrashedFreesItsPlaceAloneAndInTime": func(t *stage) {
		// Its process is not there any more, so nothing renews it.
		const ttl = 700 * time.Millisecond
		r, _ := t.sides(lock.WithTTL(ttl), lock.WithoutWatchdog())
		r2, w2 := t.sides(lock.WithTTL(shortTTL))
		dead, err := t.try(r)
		require.NoError(t, err)
		living := t.acquire(bg, r2)
		t.eventually(func() bool {
			return !slices.ContainsFunc(t.inspect(r).Readers, func(id string) bool { return id == dead.ID() })
		}, "nobody keeps it")
		require.NoError(t, living.Err())
		_, err = t.try(w2)
		require.ErrorIs(t, err, lock.ErrLocked)
		t.unlock(living)
		t.unlock(t.acquire(bg, w2))
		require.ErrorIs(t, dead.Unlock(bg), lock.ErrLost)
	},

	"CrowdsThatReadAndWriteAreAllServed": func(t *stage) {
		var reading, writing, served atomic.Int64
		type caller struct {
			Mutex
			reads bool
		}
		var crowd []caller
		for range 3 {
			r, w := t.sides()
			crowd = append(crowd, caller{r, true}, caller{r, true}, caller{r, true}, caller{w, false})
		}
		var newest atomic.Int64
		t.parallel(len(crowd), func(i int) (*lock.Lease, error) {
			for range 5 {
				lease, err := crowd[i].Lock(bg)
				if err != nil {
					return nil, err
				}
				if crowd[i].reads {
					reading.Add(1)
					if lease.Token() < newest.Load() {
						t.Errorf("who reads has token %d after %d", lease.Token(), newest.Load())
					}
				} else {
					if writing.Add(1) != 1 || reading.Load() != 0 {
						t.Error("somebody is inside with one who writes")
					}
					if before := newest.Swap(lease.Token()); before >= lease.Token() {
						t.Errorf("token %d after %d", lease.Token(), before)
					}
				}
				served.Add(1)
				if crowd[i].reads {
					if writing.Load() != 0 {
						t.Error("somebody writes while others read")
					}
					reading.Add(-1)
				} else {
					writing.Add(-1)
				}
				if err := lease.Unlock(bg); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		require.EqualValues(t, 5*len(crowd), served.Load())
	},
}

// requireCounters waits until each node has a counter of tokens: one that has none yet, as the writer's request is
// late there, gives a reader a greater token than the writer's.
func (t *stage) requireCounters(l Mutex) {
	t.Helper()
	t.eventually(func() bool {
		return !slices.ContainsFunc(t.inspect(l).Nodes, func(n lock.NodeState) bool { return n.Token == 0 })
	}, "every node has a counter")
}

// hears waits until the process of r, which reads, has heard that somebody waits to write.
func (t *stage) hears(r Mutex) {
	t.Helper()
	t.eventually(func() bool {
		lease, err := t.try(r)
		if err != nil {
			return true
		}
		t.unlock(lease)
		return false
	}, "it has heard of who waits")
}

// sides are both sides of the lock in a process of its own: what leaves room, and what does not.
func (t *stage) sides(opts ...lock.Option) (shared, rival Mutex) {
	t.Helper()
	c := t.client()
	return t.kind.New(c, t.name, opts...), t.kind.Rival(c, t.name, opts...)
}

package lock_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// A process of which nobody waits when a hold ends is back before those that are far can come, each time. It leaves them
// their chance all the same.
func TestProcessesWithOneGoroutineEachTakeTurns(t *testing.T) {
	const near, far = 200 * time.Microsecond, time.Millisecond
	for name, trips := range map[string][]time.Duration{
		"two":             {near, far},
		"several near":    {near, far, near},
		"several far":     {time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond},
		"several of each": {near, far, near, near, far},
	} {
		for _, hold := range []time.Duration{4 * time.Millisecond, 40 * time.Millisecond, 200 * time.Millisecond} {
			t.Run(fmt.Sprint(name, " ", hold), func(t *testing.T) {
				inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
					counts, longest := w.share(1, 50*hold+2*time.Second, func(p *process) lock.Locker { return p.mutex() }, func(l *lock.Lease) {
						time.Sleep(hold)
						assert.NoError(t, l.Unlock(bg))
					}, trips...)
					t.Log(counts, longest)
					require.Less(t, longest, time.Second+10*hold)
				})
			})
		}
	}
	t.Run("expired", func(t *testing.T) {
		inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
			counts, longest := w.share(1, 5*time.Second, func(p *process) lock.Locker {
				return p.mutex(lock.WithTTL(40*time.Millisecond), lock.WithoutWatchdog())
			}, func(l *lock.Lease) { <-l.Done() }, near, far)
			t.Log(counts, longest)
			require.Less(t, longest, time.Second)
		})
	})
}

// alone has one goroutine of p lock the name again and again until ctx ends, each time for 2 ms. It returns how long the name
// was not held in between, each time.
func alone(ctx context.Context, t *testing.T, p *process) <-chan []time.Duration {
	gaps := make(chan []time.Duration, 1)
	go func() {
		var all []time.Duration
		last := time.Now()
		for {
			l, err := p.mutex().Lock(ctx)
			if err != nil {
				gaps <- all
				return
			}
			all = append(all, time.Since(last))
			time.Sleep(2 * time.Millisecond)
			last = time.Now()
			assert.NoError(t, l.Unlock(bg))
		}
	}()
	return gaps
}

// at returns a process that is so far from the nodes.
func (w *world) at(trip time.Duration) *process {
	h := virtual.NewHost(w.nodes)
	h.SetDelay(trip/2, trip-trip/2)
	return w.processOn(h)
}

// Who is far is left a chance after a while, and not after each hold.
func TestOneGoroutineLeavesOthersAChanceNowAndThen(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		ctx, cancel := context.WithTimeout(bg, 5*time.Second)
		defer cancel()
		near := alone(ctx, t, w.at(200*time.Microsecond))
		far := len(<-alone(ctx, t, w.at(time.Millisecond)))
		holds := len(<-near)
		require.Greater(t, far, 50)
		require.Greater(t, holds, 15*far, "of the 20 that are a reign")
	})
}

// It is left a chance after each of the reigns of the other one, until it does not come.
func TestOneGoroutineLeavesWhoHasGoneOneChance(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		const trip = 60 * time.Millisecond
		p := w.at(200 * time.Microsecond)
		ctx, cancel := context.WithCancel(bg)
		first := alone(ctx, t, p)
		other := w.at(trip)
		for range 3 {
			within, over := context.WithTimeout(bg, time.Second)
			l, err := other.mutex().Lock(within)
			over()
			require.NoError(t, err)
			require.NoError(t, l.Unlock(bg))
		}
		cancel()
		<-first
		ctx, cancel = context.WithTimeout(bg, 5*time.Second)
		defer cancel()
		gaps := slices.Sorted(slices.Values(<-alone(ctx, t, p)))
		require.Greater(t, len(gaps), 2000)
		require.Less(t, gaps[len(gaps)-2], trip/4, "it was waited for once at most")
	})
}

// Who cannot hear has its turn, too, and those who cannot do not wait for themselves.
func TestProcessesWithOneGoroutineEachThatCannotHearTakeTurns(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		each(w.nodes, func(n *virtual.Node) { n.Refuse(virtual.Name("SUBSCRIBE")) })
		p, other := w.at(200*time.Microsecond), w.at(200*time.Microsecond)
		ctx, cancel := context.WithCancel(bg)
		busy := alone(ctx, t, p)
		for range 6 {
			time.Sleep(1500 * time.Millisecond) // its mark does not count any more
			within, over := context.WithTimeout(bg, 2*time.Second)
			l, err := other.mutex().Lock(within)
			over()
			require.NoError(t, err)
			require.NoError(t, l.Unlock(bg))
		}
		time.Sleep(1500 * time.Millisecond) // for as long as its mark counts, and a chance
		cancel()
		<-busy
		ctx, cancel = context.WithTimeout(bg, 5*time.Second)
		defer cancel()
		start := time.Now()
		gaps := <-alone(ctx, t, p)
		require.Less(t, slices.Max(gaps), 10*time.Millisecond)
		for _, n := range w.nodes {
			for _, c := range n.Commands(runs(lua.Deaf{})) {
				require.True(t, c.At.Before(start), "nobody but itself waits")
			}
		}
	})
}

// leaves is a process that leaves the name to a far one, which does not come: it has gone. The chance lasts for 95 ms.
func (w *world) leaves(t *testing.T) *process {
	p, far := w.at(200*time.Microsecond), w.at(60*time.Millisecond)
	ctx, cancel := context.WithCancel(bg)
	waiting := wait(ctx, far.mutex())
	for len(w.nodes[0].Commands(runs(lua.Far{}))) == 0 {
		l := w.lock(p.mutex())
		time.Sleep(time.Second)
		require.NoError(t, l.Unlock(bg))
	}
	cancel()
	require.Error(t, (<-waiting).err)
	l := w.lock(p.mutex()) // which tells of the mark
	time.Sleep(time.Second)
	require.NoError(t, l.Unlock(bg))
	return p
}

// Whoever comes meanwhile waits, also behind one that has given up; and a TryLock, which cannot wait, does not.
func TestANameIsLeftToOthersThoughNobodyHereWaits(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.leaves(t)
		start := time.Now()
		ctx, cancel := context.WithCancel(bg)
		first := wait(ctx, p.mutex())
		time.Sleep(10 * time.Millisecond)
		second := wait(bg, p.mutex())
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		l := (<-second).after(t, start, 90*time.Millisecond, 100*time.Millisecond)
		require.NoError(t, l.Unlock(bg))
	})
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.leaves(t)
		start := time.Now()
		waiting := wait(bg, p.mutex())
		l, err := p.mutex().TryLock(bg)
		require.NoError(t, err)
		require.Less(t, time.Since(start), time.Millisecond)
		time.Sleep(10 * time.Millisecond)
		require.NoError(t, l.Unlock(bg))
		(<-waiting).after(t, start, 10*time.Millisecond, 12*time.Millisecond)
	})
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.leaves(t)
		waiting := wait(bg, p.mutex())
		synctest.Wait()
		start := time.Now()
		require.NoError(t, p.locks.Close())
		require.Less(t, time.Since(start), 10*time.Millisecond)
		require.ErrorIs(t, (<-waiting).err, lock.ErrClosed)
	})
}

// If somebody of the process takes the name in the chance that is left to others, whoever has waited for its end waits as
// behind any other holder: it looks now and then whether the name is there still.
func TestWhoHasLeftANameToOthersLooksBehindAnotherOfItsProcess(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.leaves(t)
		waiting := wait(bg, p.mutex())
		synctest.Wait()
		_, err := p.mutex(lock.WithoutWatchdog(), lock.WithTTL(time.Minute)).TryLock(bg)
		require.NoError(t, err)
		time.Sleep(time.Second)
		each(w.nodes, func(n *virtual.Node) { n.Delete(keys.Lock) })
		start := time.Now()
		next := (<-waiting).after(t, start, 0, pollBound)
		require.NoError(t, next.Unlock(bg))
	})
}

// What is known of a name is forgotten once, and not what is known of it after that: Close gives back what it knows of.
func TestANameThatIsForgottenInAChanceIsKnownWhenItIsTakenAgain(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const forgets, holds = 10 * time.Second, 3100 * time.Millisecond
		p := w.at(10 * time.Millisecond)
		leave := func(l *lock.Lease) { // to others, while somebody waits, who goes
			ctx, cancel := context.WithCancel(bg)
			waiting := wait(ctx, p.mutex())
			time.Sleep(holds)
			go func() { assert.NoError(t, l.Unlock(bg)) }()
			time.Sleep(2 * time.Millisecond)
			cancel()
			require.Error(t, (<-waiting).err)
		}
		leave(w.lock(p.mutex()))
		end := time.Now().Add(forgets)
		l, err := p.mutex().TryLock(bg) // in the chance
		require.NoError(t, err)
		time.Sleep(time.Until(end) - holds - 10*time.Millisecond)
		leave(l)
		time.Sleep(time.Until(end) + time.Millisecond)
		_, err = p.mutex().TryLock(bg) // in the second one
		require.NoError(t, err)
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, p.locks.Close())
		holder, _ := w.nodes[0].Holder(keys.Lock)
		require.Empty(t, holder)
	})
}

// maxChance is the longest time for which a name is left to others.
const maxChance = time.Second

// One answer that comes late does not make for a longer chance than any process may ask for.
func TestAChanceHasABound(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		far := virtual.NewHost(w.nodes)
		far.SetDelay(30*time.Millisecond, 30*time.Millisecond)
		near := virtual.NewHost(w.nodes)
		p, other := w.processOn(near, lock.WithNodeTimeout(5*time.Second)), w.processOn(far)
		ctx, cancel := context.WithCancel(bg)
		waiting := wait(ctx, other.mutex())
		for len(w.nodes[0].Commands(runs(lua.Far{}))) == 0 {
			l := w.lock(p.mutex())
			time.Sleep(time.Second)
			require.NoError(t, l.Unlock(bg))
		}
		cancel()
		require.Error(t, (<-waiting).err)
		time.Sleep(time.Second) // what it has asked for is given back
		near.SetDelay(0, 2*time.Second)
		l, err := p.mutex().Lock(bg)
		require.NoError(t, err)
		near.SetDelay(0, 0)
		time.Sleep(time.Second)
		require.NoError(t, l.Unlock(bg))
		start := time.Now()
		l, err = p.mutex().Lock(bg)
		require.NoError(t, err)
		took := time.Since(start)
		require.Greater(t, took, 90*time.Millisecond)
		require.LessOrEqual(t, took, maxChance)
		require.NoError(t, l.Unlock(bg))
	})
}

// Those who are near share the name evenly, though one that was far has gone.
func TestWhoIsNearDoesNotStarveAfterOneThatWasFarHasGone(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		far := w.at(30 * time.Millisecond)
		ctx, cancel := context.WithTimeout(bg, 8*time.Second)
		defer cancel()
		var all []<-chan []time.Duration
		for range 3 {
			all = append(all, alone(ctx, t, w.at(200*time.Microsecond)))
		}
		time.Sleep(time.Second)
		l, err := far.mutex().Lock(bg)
		require.NoError(t, err)
		require.NoError(t, l.Unlock(bg))
		var holds []int
		for _, gaps := range all {
			holds = append(holds, len(<-gaps))
		}
		t.Log(holds)
		require.Less(t, slices.Max(holds), 3*slices.Min(holds))
	})
}

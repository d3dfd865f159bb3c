package lock_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

const retention = time.Hour

func TestCounterOfAnIdleNameIsGoneAfterItsRetention(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process(lock.WithTokenRetention(retention))
		l := w.lock(p.mutex())
		require.NoError(t, l.Unlock(bg))
		synctest.Wait()
		time.Sleep(retention - time.Millisecond)
		each(w.quorum(), func(n *virtual.Node) { require.Contains(t, n.Keys(), keys.Token()) })
		time.Sleep(time.Millisecond)
		each(w.nodes, func(n *virtual.Node) { require.Empty(t, n.Keys(), "nothing lives for ever") })
	})
}

// A counter that a second round has raised is no different.
func TestCounterThatWasRaisedIsGoneAfterItsRetentionToo(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		m := w.process(lock.WithTokenRetention(retention)).mutex()
		for i, n := range w.nodes {
			require.NoError(t, n.Memory().Set(keys.Token(), strconv.Itoa(10+i)))
		}
		l := w.lock(m)
		require.NoError(t, l.Unlock(bg))
		synctest.Wait()
		known := 0
		for _, n := range w.nodes {
			if token, err := n.Memory().Get(keys.Token()); err == nil && token == tokenText(l) {
				known++
			}
		}
		require.GreaterOrEqual(t, known, 2)
		time.Sleep(retention)
		each(w.nodes, func(n *virtual.Node) { require.Empty(t, n.Keys(), "nothing lives for ever") })
	})
}

// The second round states the request that was granted, as a late yield of an earlier one would take the token back, and
// the guard, as a server that was restarted may have an old grant.
func TestTheSecondRoundStatesTheRequestAndTheGuard(t *testing.T) {
	for kind, c := range map[string]struct {
		fence func([]string) bool
		round int // where it stands in the command, from the end
	}{
		"fair":   {runs(lua.Fence{}), 2},
		"permit": {runs(lua.PermitFence{}), 3},
	} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
				guard := lock.WithRestartGuard(time.Minute)
				first, second := w.process(guard).lockOf(kind), w.process(guard).lockOf(kind)
				time.Sleep(time.Minute + 2*time.Second) // the nodes are old enough
				held := w.lock(first)
				waiting := wait(bg, second)
				time.Sleep(time.Second)
				for i, n := range w.nodes { // each mints another token
					require.NoError(t, n.Memory().Set(keys.Token(), strconv.FormatInt(held.Token()+int64(10*(1+i)), 10)))
				}
				before := w.commands(c.fence)
				require.NoError(t, held.Unlock(bg))
				require.NoError(t, await(t, waiting).err)
				synctest.Wait()
				require.Equal(t, before+len(w.nodes), w.commands(c.fence))
				for _, n := range w.nodes {
					all := n.Commands(c.fence)
					args := all[len(all)-1].Args
					require.Equal(t, "60000", args[len(args)-1], "the guard, in milliseconds")
					round, err := strconv.Atoi(args[len(args)-c.round])
					require.NoError(t, err)
					require.Positive(t, round)
				}
			})
		})
	}
}

func TestCounterIsKeptForADayByDefault(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		require.NoError(t, w.lock(w.process().mutex()).Unlock(bg))
		require.Equal(t, defaultRetention, w.nodes[0].Memory().TTL(keys.Token()))
	})
}

func TestTokenAfterTheRetentionComesFromTheClock(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		m := w.process(lock.WithTokenRetention(retention)).mutex()
		last := int64(0)
		for range 5 {
			now := time.Now().UnixMicro()
			l := w.lock(m)
			require.Equal(t, now, l.Token())
			require.Greater(t, l.Token(), last)
			last = l.Token()
			require.NoError(t, l.Unlock(bg))
			for range 20 { // far fewer a second than the clock has microseconds
				l = w.lock(m)
				require.Greater(t, l.Token(), last)
				last = l.Token()
				require.NoError(t, l.Unlock(bg))
			}
			time.Sleep(retention)
		}
	})
}

func TestCounterLivesOnWhileTheNameIsUsed(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := w.process(lock.WithTokenRetention(retention)).mutex()
		l := w.lock(m)
		first := l.Token()
		require.NoError(t, l.Unlock(bg))
		for i := range int64(10) {
			time.Sleep(retention - time.Minute)
			l := w.lock(m)
			require.Equal(t, first+i+1, l.Token(), "counted, not taken from the clock again")
			require.NoError(t, l.Unlock(bg))
		}
	})
}

func TestCounterOutlivesAHoldThatIsLongerThanItsRetention(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		m := w.process(lock.WithTokenRetention(retention)).mutex(lock.WithTTL(retention - time.Minute))
		l := w.lock(m)
		time.Sleep(10 * retention)
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
		require.Equal(t, l.Token()+1, w.lock(m).Token())
	})
}

func TestTokenIsTheGreatestOfTheQuorumThatGrantedTheLock(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		for i, n := range w.quorum() {
			require.NoError(t, n.Memory().Set(keys.Token(), strconv.Itoa(10*(1+i))))
		}
		each(w.minority(), func(n *virtual.Node) { n.Silence(true) })
		require.EqualValues(t, 10*len(w.quorum())+1, w.lock(p.mutex()).Token())
	})
}

func TestTokensGrowWhenNodesForgetTheirCounters(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		last := int64(0)
		for i := range 50 {
			l := w.lock(m)
			require.Greater(t, l.Token(), last)
			last = l.Token()
			require.NoError(t, l.Unlock(bg))
			time.Sleep(time.Millisecond)
			w.nodes[i%len(w.nodes)].Flush()
		}
	})
}

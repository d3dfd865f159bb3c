package lock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

func TestWatchdogRenewsForADay(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const ttl = 4 * time.Minute
		start := time.Now()
		l := w.lock(w.process().mutex(lock.WithTTL(ttl)))
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		require.NoError(t, l.Err())
		for _, n := range w.nodes {
			requireRenewedEveryThird(t, n, ttl, start, time.Now())
			// A third of the TTL, less half of the jitter, over a day.
			require.InDelta(t, 24*60/(4./3*15/16), len(renewals(n)), 30)
			id, left := n.Holder(keys.Lock)
			require.Equal(t, l.ID(), id)
			require.GreaterOrEqual(t, left, ttl*2/3)
		}
		at := renewals(w.nodes[0])
		require.Equal(t, at[len(at)-1].Add(validity(ttl)), l.Deadline())
		require.NoError(t, l.Unlock(bg))
		renewed := len(renewals(w.nodes[0]))
		time.Sleep(long)
		require.Len(t, renewals(w.nodes[0]), renewed, "none follows a release")
	})
}

func TestValidityCountsFromTheStartOfEachAttempt(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		const request, reply = 30 * time.Millisecond, 40 * time.Millisecond
		p := w.process()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(request, reply) })
		start := time.Now()
		l := w.lock(p.mutex())
		require.Equal(t, request+reply, time.Since(start))
		require.Equal(t, start.Add(validity(defaultTTL)), l.Deadline())

		time.Sleep(defaultTTL/3 + time.Second) // the first renewal is over, the second is to come
		at := renewals(w.nodes[0])
		sent := at[len(at)-1].Add(-request)
		require.Equal(t, sent.Add(validity(defaultTTL)), l.Deadline())

		sent = time.Now()
		require.NoError(t, l.Extend(bg, time.Hour))
		require.Equal(t, sent.Add(validity(time.Hour)), l.Deadline())
	})
}

// The next renewal counts from when the last one was sent, however long the nodes take to answer.
func TestNodesThatAreSlowAreAskedAsOften(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(defaultNodeTimeout*2/5, defaultNodeTimeout*2/5) })
		l := w.lock(w.process().mutex())
		time.Sleep(long)
		at := renewals(w.nodes[0])
		require.Greater(t, len(at), 100)
		for i, sent := range at[1:] {
			require.LessOrEqual(t, sent.Sub(at[i]), defaultTTL/3)
		}
		require.NoError(t, l.Unlock(bg))
	})
}

func TestMinorityThatDoesNotAnswerChangesNothing(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				start := time.Now()
				l := w.lock(w.process().mutex())
				time.Sleep(time.Minute)
				each(w.minority(), fault)
				time.Sleep(long)
				require.NoError(t, l.Err())
				for _, n := range w.quorum() {
					requireRenewedEveryThird(t, n, defaultTTL, start, time.Now())
				}
				require.NoError(t, l.Unlock(bg))
				requireHolder(t, "", w.quorum())
			})
		})
	}
}

func TestRenewalWithoutAQuorumIsTriedAgainUntilItSucceeds(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		synctest.Wait()
		deadline := l.Deadline()
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		time.Sleep(time.Until(deadline) - 2*time.Second)
		require.Equal(t, deadline, l.Deadline(), "what a minority confirms counts for nothing")
		each(w.quorum(), func(n *virtual.Node) { n.Silence(false) })
		time.Sleep(2*time.Second - time.Millisecond)
		require.True(t, l.Deadline().After(deadline), "tried again in time")
		time.Sleep(long)
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
	})
}

func TestRenewalIsTriedAgainSoonButNotInALoop(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		start := time.Now()
		w.lock(w.process().mutex())
		synctest.Wait()
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		time.Sleep(long)
		at := renewals(w.nodes[0]) // the minority, which answers
		require.NotEmpty(t, at)
		require.LessOrEqual(t, at[0].Sub(start), defaultTTL/3)
		// The node timeout, then a thirtieth of the TTL.
		const pause = defaultNodeTimeout + defaultTTL/30
		for i := range at[1:] {
			require.InDelta(t, pause, at[i+1].Sub(at[i]), float64(slack))
		}
		require.LessOrEqual(t, start.Add(validity(defaultTTL)).Sub(at[len(at)-1]), pause, "until the end")
		require.False(t, at[len(at)-1].After(start.Add(validity(defaultTTL))), "and not for longer")
	})
}

func TestNodeThatForgotTheLockIsRepairedAndCountsAgain(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		synctest.Wait()
		forgetful := w.nodes[len(w.nodes)-1]
		forgetful.Flush()
		requireHolder(t, "", []*virtual.Node{forgetful})
		time.Sleep(2 * defaultTTL / 3) // its answer to the first renewal may come after the decision
		synctest.Wait()
		requireHolder(t, l.ID(), w.nodes)
		token, err := forgetful.Memory().Get(keys.Token())
		require.NoError(t, err)
		require.Equal(t, tokenText(l), token)

		each(w.minority(), func(n *virtual.Node) { n.Silence(true) })
		time.Sleep(long)
		require.NoError(t, l.Err(), "without its vote there is no quorum")
		require.NoError(t, l.Unlock(bg))
	})
}

func TestQuorumThatForgotTheLockIsALossAtTheNextRenewal(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		ctx := l.Context(bg)
		time.Sleep(25 * time.Second)
		at := renewals(w.nodes[0])
		last := at[len(at)-1]
		each(w.quorum(), (*virtual.Node).Flush)
		awaitEnd(t, l)
		require.LessOrEqual(t, time.Since(last), defaultTTL/3)
		require.True(t, time.Now().Before(l.Deadline()), "not only when its validity ends")
		requireLost(ctx, t, l)
		synctest.Wait()
		requireHolder(t, "", w.nodes) // neither repaired nor left on the others
		require.NoError(t, w.lock(p.mutex()).Unlock(bg))
		require.ErrorContains(t, l.Unlock(bg), "no longer has it")
	})
}

// With an even number of nodes, half of them are enough for that.
func TestSoManyForgetfulNodesThatNoQuorumIsLeftAreALossAtTheNextRenewal(t *testing.T) {
	inVirtualTime(t, []int{1, 2, 3, 4, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		synctest.Wait()
		start := time.Now()
		each(w.nodes[:(len(w.nodes)+1)/2], (*virtual.Node).Flush)
		awaitEnd(t, l)
		require.LessOrEqual(t, time.Since(start), defaultTTL/3)
		require.ErrorContains(t, l.Unlock(bg), "no longer has it")
	})
}

func TestForgetfulAndSilentNodesTogetherAreNotYetALoss(t *testing.T) {
	inVirtualTime(t, []int{5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		synctest.Wait()
		deadline := l.Deadline()
		w.nodes[0].Flush()
		w.nodes[1].Flush()
		w.nodes[2].Silence(true)
		time.Sleep(20 * time.Second)
		require.Equal(t, deadline, l.Deadline(), "two of five")
		require.NoError(t, l.Err(), "the third may have it still")
		requireHolder(t, "", w.nodes[:2]) // repair needs a confirmed renewal
		w.nodes[2].Silence(false)
		time.Sleep(2 * time.Second)
		require.True(t, l.Deadline().After(deadline))
		requireHolder(t, l.ID(), w.nodes)
	})
}

func TestEachOfManyLeasesIsRenewed(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.process()
		const leases = 100
		held := w.lockMany(p, leases)
		time.Sleep(2 * defaultTTL)
		for _, l := range held {
			require.NoError(t, l.Err())
		}
		require.InDelta(t, leases*2*3*16/15, len(renewals(w.nodes[0])), leases)
	})
}

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

// A lease is kept as long as a quorum is well, and a gap in the ownership is a loss.

// bareQuorum has m's lock granted by nodes[:quorum] alone: a rival has the votes of the others
// for that moment.
func (w *world) bareQuorum(m lock.Locker) *lock.Lease {
	w.t.Helper()
	l, givesUp := w.barely(m)
	givesUp()
	requireHolder(w.t, l.ID(), w.nodes[:len(w.nodes)/2+1])
	requireHolder(w.t, "", w.nodes[len(w.nodes)/2+1:])
	return l
}

// barely is bareQuorum, but the rival keeps the others until it gives up.
func (w *world) barely(m lock.Locker) (l *lock.Lease, givesUp func()) {
	w.t.Helper()
	// By now each node has its counter, and has run for a while.
	require.NoError(w.t, w.lock(m).Unlock(bg))
	time.Sleep(time.Minute)
	clients := virtual.NewHost(w.nodes[len(w.nodes)/2+1:]).Clients(w.t)
	for _, c := range clients {
		_, err := lua.Acquire{Keys: keys, Hold: "rival:1", TTL: time.Minute, Retention: retention}.Call().Run(bg, c)
		require.NoError(w.t, err)
	}
	return w.lock(m), func() {
		for _, c := range clients {
			_, err := lua.Release{Keys: keys, Hold: "rival:1", Quiet: true, Undo: true}.Call().Run(bg, c)
			require.NoError(w.t, err)
		}
	}
}

func TestHoldOfABareQuorumOutlivesOneOfItsNodes(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			ofEitherKind(t, []int{3, 4, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
				l := w.bareQuorum(of(w.process()))
				fault(w.nodes[0])
				time.Sleep(long)
				require.NoError(t, l.Err())
				require.NoError(t, l.Extend(bg, time.Hour))
				require.NoError(t, l.Unlock(bg))
				synctest.Wait()
				requireHolder(t, "", w.nodes[1:])
			})
		})
	}
}

// The caller's own extension finds the same quorum as a renewal.
func TestExtendOfABareQuorumOutlivesOneOfItsNodes(t *testing.T) {
	ofEitherKind(t, []int{3, 4, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		l := w.bareQuorum(of(w.process(lock.WithoutWatchdog())))
		w.nodes[0].Kill()
		sent := time.Now()
		require.NoError(t, l.Extend(bg, time.Hour))
		require.Equal(t, sent.Add(validity(time.Hour)), l.Deadline())
		synctest.Wait()
		requireHolder(t, l.ID(), w.nodes[1:])
		require.NoError(t, l.Unlock(bg))
	})
}

// A node that has restarted empty grants nothing while the guard keeps it out. That it lacks the hold is no sign that
// another has the lock, while a rival that will not get it has the votes that are wanting.
func TestHoldOfABareQuorumOutlivesTheRestartOfOneOfItsNodesUnderTheGuard(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair", "writer", "reader", "permit"} {
		for name, waits := range map[string]bool{"alone": false, "another waits here": true} {
			t.Run(kind+", "+name, func(t *testing.T) {
				inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
					p := w.process(lock.WithRestartGuard(time.Minute))
					time.Sleep(time.Minute + 2*time.Second) // the nodes are old enough
					m := p.lockOf(kind)
					l, givesUp := w.barely(m)
					w.nodes[0].Flush()
					w.nodes[0].Reboot()
					var waiting <-chan grant
					if waits {
						waiting = wait(bg, m)
					}
					time.Sleep(defaultTTL - 5*time.Second)
					if kind == "writer" { // for whom no node vouches, so that it cannot be kept
						givesUp()
						awaitEnd(t, l)
						require.ErrorIs(t, l.Unlock(bg), lock.ErrLost)
					} else {
						require.NoError(t, l.Err())
						givesUp()
						time.Sleep(long)
						require.NoError(t, l.Err())
						requireHolder(t, l.ID(), w.nodes[1:])
						require.NoError(t, l.Unlock(bg))
					}
					if waits {
						next := await(t, waiting)
						require.NoError(t, next.err)
						require.NoError(t, next.lease.Unlock(bg))
					}
				})
			})
		}
	}
}

// A release that finds the hold on less than a quorum, because of such a node, is none of a lost hold.
func TestUnlockOfABareQuorumAfterARestartUnderTheGuardIsNoLoss(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair", "writer", "reader", "permit"} {
		for name, c := range map[string]struct {
			guard time.Duration
			fault func(*virtual.Node)
			lost  bool
		}{
			"restarted":                  {time.Minute, (*virtual.Node).Reboot, false},
			"restarted, without a guard": {0, (*virtual.Node).Reboot, true},
			"flushed":                    {time.Minute, func(*virtual.Node) {}, true},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
					p := w.process(lock.WithRestartGuard(c.guard))
					time.Sleep(time.Minute + 2*time.Second) // the nodes are old enough
					l, _ := w.barely(p.lockOf(kind, lock.WithoutWatchdog()))
					w.nodes[0].Flush()
					c.fault(w.nodes[0])
					w.loadScripts()
					other := w.lock(reentrantAt(p, "other")) // the client has met that node again
					time.Sleep(time.Second)
					if c.lost {
						require.Equal(t, lock.ReasonGone, reasonOf(t, l, l.Unlock(bg)))
					} else {
						require.NoError(t, l.Unlock(bg))
					}
					require.NoError(t, other.Unlock(bg))
				})
			})
		}
	}
}

// Without a guard it could have been granted by that node.
func TestHoldOfABareQuorumEndsWithTheRestartOfOneOfItsNodesWithoutAGuard(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair", "writer", "reader", "permit"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				l, _ := w.barely(w.process().lockOf(kind))
				w.nodes[0].Flush()
				w.nodes[0].Reboot()
				time.Sleep(defaultTTL / 3)
				synctest.Wait()
				require.Equal(t, lock.ReasonGone, reasonOf(t, l, l.Err()))
			})
		})
	}
}

// The others have it again at once, and one more may go.
func TestNodeThatVouchesCountsFromThenOn(t *testing.T) {
	ofEitherKind(t, []int{5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		l := w.bareQuorum(of(w.process()))
		w.nodes[0].Kill()
		time.Sleep(defaultTTL / 3)
		synctest.Wait()
		requireHolder(t, l.ID(), w.nodes[1:])
		w.nodes[1].Kill()
		time.Sleep(long)
		require.NoError(t, l.Err())
		require.NoError(t, l.Unlock(bg))
	})
}

// Between the two, another had the lock: that must be seen, and at once, whether it has the lock
// still or not.
func TestRivalThatWasGrantedTheLockInAGapIsALoss(t *testing.T) {
	for name, gone := range map[string]func(t *testing.T, w *world, rival *lock.Lease){
		"and has it":     func(*testing.T, *world, *lock.Lease) {},
		"and had it":     func(t *testing.T, _ *world, rival *lock.Lease) { require.NoError(t, rival.Unlock(bg)) },
		"and was forgot": func(_ *testing.T, w *world, _ *lock.Lease) { w.nodes[len(w.nodes)-1].Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
				l := w.bareQuorum(of(w.process()))
				ctx := l.Context(bg)
				w.nodes[0].Flush() // and does not stay out for a TTL
				rival := w.lock(of(w.process()))
				require.Greater(t, rival.Token(), l.Token())
				gone(t, w, rival)
				time.Sleep(defaultTTL / 3)
				synctest.Wait()
				require.ErrorIs(t, l.Err(), lock.ErrLost)
				requireLost(ctx, t, l)
			})
		})
	}
}

// A node that knows nothing cannot vouch: it may have been the rival's.
func TestNodeThatMayHaveForgottenDoesNotVouch(t *testing.T) {
	for name, fault := range map[string]func(*virtual.Node){
		"empty":        (*virtual.Node).Flush,
		"started anew": (*virtual.Node).Reboot,
	} {
		t.Run(name, func(t *testing.T) {
			ofEitherKind(t, []int{3, 4, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
				l := w.bareQuorum(of(w.process()))
				ctx := l.Context(bg)
				others := w.nodes[len(w.nodes)/2+1:]
				w.nodes[0].Kill()
				each(others, fault)
				time.Sleep(defaultTTL)
				require.ErrorIs(t, l.Err(), lock.ErrLost)
				requireLost(ctx, t, l)
				synctest.Wait()
				requireHolder(t, "", others)
			})
		})
	}
}

// Nodes that vouch may answer before the one that has the hold.
func TestHolderThatAnswersLastIsHeard(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		l := w.bareQuorum(of(w.process()))
		w.nodes[0].Memory().Del(keys.Lock)
		each(w.nodes[1:len(w.nodes)/2+1], func(n *virtual.Node) { n.SetDelay(0, defaultNodeTimeout/2) })
		time.Sleep(defaultTTL)
		synctest.Wait()
		require.NoError(t, l.Err())
		requireHolder(t, l.ID(), w.nodes)
		require.NoError(t, l.Unlock(bg))
	})
}

// Who deletes a lock by hand wants it to end.
func TestHoldThatIsDeletedEverywhereIsNotRestored(t *testing.T) {
	ofEitherKind(t, []int{1, 3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		m := of(w.process())
		require.NoError(t, w.lock(m).Unlock(bg))
		time.Sleep(time.Minute)
		l := w.lock(m)
		each(w.nodes, func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
		time.Sleep(defaultTTL / 3)
		synctest.Wait()
		require.ErrorIs(t, l.Err(), lock.ErrLost)
		synctest.Wait()
		requireHolder(t, "", w.nodes)
	})
}

// Attempts in vain leave counters as they were, or no node could vouch under contention.
func TestAttemptInVainLeavesCountersAsTheyWere(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		l := w.bareQuorum(of(w.process()))
		others := w.nodes[len(w.nodes)/2+1:]
		m := of(w.process())
		before, err := others[0].Memory().Get(keys.Token())
		require.NoError(t, err)
		for range 3 {
			_, err := m.TryLock(bg)
			require.ErrorIs(t, err, lock.ErrLocked)
			synctest.Wait()
		}
		for _, n := range others {
			counter, err := n.Memory().Get(keys.Token())
			require.NoError(t, err)
			require.Equal(t, before, counter)
			require.Positive(t, n.Memory().TTL(keys.Token()))
		}
		known, err := strconv.ParseInt(before, 10, 64)
		require.NoError(t, err)
		require.LessOrEqual(t, known, l.Token())
		require.NoError(t, l.Unlock(bg))
		require.Greater(t, w.lock(m).Token(), l.Token())
	})
}

// A rival that had a node's vote gives it back at once, and that node must have the hold before
// another one goes.
func TestNodeThatRefusedHasTheHoldSoonAfter(t *testing.T) {
	ofEitherKind(t, []int{3, 4, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		l := w.bareQuorum(of(w.process()))
		time.Sleep(100 * time.Millisecond)
		requireHolder(t, l.ID(), w.nodes)
		asked := len(renewals(w.nodes[0]))
		require.LessOrEqual(t, asked, 2)
		time.Sleep(time.Second)
		require.Len(t, renewals(w.nodes[0]), asked, "then all is well")
		require.NoError(t, l.Unlock(bg))
	})
}

// What goes on to be held by another is asked for less and less often.
func TestNodeThatGoesOnToRefuseIsAskedLessAndLess(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		w.nodes[0].Memory().HSet(keys.Lock, "rival:1", "1")
		w.nodes[0].Memory().SetTTL(keys.Lock, long)
		l := w.lock(w.process().mutex())
		time.Sleep(defaultTTL)
		asked := len(renewals(w.nodes[1]))
		require.InDelta(t, 12, asked, 4)
		time.Sleep(10 * defaultTTL)
		require.LessOrEqual(t, len(renewals(w.nodes[1]))-asked, 36, "as often as any hold")
		require.NoError(t, l.Unlock(bg))
	})
}

// A fixed lease is given to nodes that lack it, too, and lasts no longer for that: neither itself
// nor on the nodes.
func TestFixedLeaseIsGivenToNodesThatLackItAndEndsInItsTime(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		p := w.process(lock.WithoutWatchdog(), lock.WithLabel("")) // nothing else is on its way
		l := w.bareQuorum(of(p))
		ctx := l.Context(bg)
		deadline := l.Deadline()
		time.Sleep(time.Second)
		requireHolder(t, l.ID(), w.nodes)
		asked := len(renewals(w.nodes[0]))
		require.LessOrEqual(t, asked, 2)

		// One that comes back empty as well.
		w.nodes[0].Kill()
		other := w.lock(reentrantAt(p, "other")) // it is noticed
		w.nodes[0].Start()
		w.loadScripts()
		time.Sleep(time.Second)
		require.NoError(t, other.Unlock(bg)) // so is this
		time.Sleep(time.Second)
		requireHolder(t, l.ID(), w.nodes)
		require.Equal(t, deadline, l.Deadline())
		time.Sleep(5 * time.Second)
		require.LessOrEqual(t, len(renewals(w.nodes[1])), asked+4)

		require.Equal(t, deadline, lostAt(ctx, t, l))
		for _, n := range w.nodes {
			_, ttl := n.Holder(keys.Lock)
			require.LessOrEqual(t, ttl, drift(defaultTTL)+time.Millisecond, n.Addr())
		}
		require.Equal(t, lock.ReasonExpired, reasonOf(t, l, l.Err()))
	})
}

// A node's clock may be ahead: what it is given later lasts longer than the lease, too, and by as much as the drift.
func TestWhatIsGivenToANodeLaterOutlastsTheLeaseByTheDrift(t *testing.T) {
	ofEitherKind(t, []int{3, 5}, func(t *testing.T, w *world, of func(*process) lock.Locker) {
		l := w.bareQuorum(of(w.process(lock.WithoutWatchdog())))
		time.Sleep(time.Second)
		requireHolder(t, l.ID(), w.nodes)
		for _, n := range w.nodes {
			_, ttl := n.Holder(keys.Lock)
			require.InDelta(t, time.Until(l.Deadline())+drift(defaultTTL), ttl, float64(2*time.Millisecond), n.Addr())
		}
		require.NoError(t, l.Unlock(bg))
	})
}

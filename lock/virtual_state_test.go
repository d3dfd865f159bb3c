package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// forcer is what every kind's type can do for an operator.
type forcer interface {
	lock.Locker
	lock.Inspector
	ForceUnlockHold(ctx context.Context, hold string) (bool, error)
}

func (p *process) forcers(opts ...lock.Option) map[string]forcer {
	return map[string]forcer{"reentrant": p.mutex(opts...), "fair": p.queue(opts...)}
}

func give(n *virtual.Node, hold string) { n.Memory().HSet(keys.Lock, hold, "1") }

// Held, free, or what was heard does not decide; and so what ForceUnlock has ended.
func TestStatusIsWhatTheAnswersDecide(t *testing.T) {
	const silent, refusing = "silent", "refusing"
	for name, c := range map[string]struct {
		nodes  []string // which hold each has; "": none
		status lock.Status
	}{
		"nobody":                       {[]string{"", "", "", "", ""}, lock.StatusFree},
		"a quorum":                     {[]string{"a", "a", "a", "", ""}, lock.StatusHeld},
		"a quorum, and silence":        {[]string{"a", "a", "a", silent, silent}, lock.StatusHeld},
		"a minority":                   {[]string{"a", "a", "", "", ""}, lock.StatusFree},
		"two minorities":               {[]string{"a", "a", "b", "b", ""}, lock.StatusFree},
		"nobody, and silence":          {[]string{"", "", "", silent, silent}, lock.StatusFree},
		"one short, and one silent":    {[]string{"a", "a", "", "", silent}, lock.StatusUnknown},
		"one short, and one refuses":   {[]string{"a", "a", "", "", refusing}, lock.StatusUnknown},
		"two short, and one is silent": {[]string{"a", "", "", "", silent}, lock.StatusFree},
		"two short, and two silent":    {[]string{"a", "", "", silent, silent}, lock.StatusUnknown},
		"one of three is left":         {[]string{"a", "", ""}, lock.StatusFree},
		"one of three, one silent":     {[]string{"a", "", silent}, lock.StatusUnknown},
		"two of four":                  {[]string{"a", "a", "", ""}, lock.StatusFree},
		"two of four, one silent":      {[]string{"a", "a", "", silent}, lock.StatusUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{len(c.nodes)}, func(t *testing.T, w *world) {
				for kind, m := range w.process().forcers() {
					for i, hold := range c.nodes {
						switch hold {
						case "":
						case silent:
							w.nodes[i].Silence(true)
						case refusing:
							w.nodes[i].Refuse(virtual.Name("HGETALL"))
						default:
							give(w.nodes[i], hold)
						}
					}
					s, err := m.Inspect(bg)
					require.NoError(t, err)
					require.Equal(t, c.status, s.Status, kind)
					require.Equal(t, c.status == lock.StatusHeld, s.Held)
					for i, n := range s.Nodes {
						require.Equal(t, c.nodes[i] != silent, n.Reachable, "a node that refuses was reached")
						require.Equal(t, c.nodes[i] == silent || c.nodes[i] == refusing, n.Err != nil)
					}
					found, err := m.ForceUnlock(bg)
					require.NoError(t, err)
					require.Equal(t, c.status != lock.StatusFree, found, kind)
					for i, n := range w.nodes {
						if c.nodes[i] != silent {
							require.False(t, n.Memory().Exists(keys.Lock), "it ends a minority's leftover, too")
						}
						n.Silence(false)
						n.Refuse(nil)
						n.Flush()
					}
					time.Sleep(time.Minute) // until the nodes are known to be back
					w.loadScripts()
				}
			})
		})
	}
}

func TestWithoutAQuorumOfAnswersTheStatusIsUnknown(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		s, err := p.mutex().Inspect(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		require.Equal(t, lock.StatusUnknown, s.Status)
	})
}

// Of several that read, one may be known to have the lock, and of another that is not decided.
func TestALockIsHeldThoughOfAnotherReaderThatIsNotKnown(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		first := w.lock(readwrite.New(w.process().locks, "orders").RLocker())
		second := w.lock(readwrite.New(w.process().locks, "orders").RLocker())
		w.nodes[2].Silence(true)
		n := w.nodes[1].Memory()
		n.HDel(keys.Lock, second.ID())
		_, err := n.ZRem(keys.Readers(), second.ID())
		require.NoError(t, err)
		operator := readwrite.New(w.process().locks, "orders")
		for range 20 { // in whatever order they are looked at
			s, err := operator.Inspect(bg)
			require.NoError(t, err)
			require.Equal(t, lock.StatusHeld, s.Status)
			require.Equal(t, first.ID(), s.Holder)
			require.Equal(t, []string{first.ID()}, s.Readers)
		}
		w.nodes[2].Silence(false)
		require.NoError(t, first.Unlock(bg))
		require.NoError(t, second.Unlock(bg))
	})
}

// A lease whose last votes are on silent nodes is valid, and nobody may say that it is not.
func TestValidLeaseWithOneNodeDownIsNotFree(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		operator := w.process()
		each(w.minority(), func(n *virtual.Node) { n.Memory().Del(keys.Lock) }) // granted by a bare quorum
		w.quorum()[0].Silence(true)
		require.NoError(t, l.Err())
		s, err := operator.mutex().Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, lock.StatusUnknown, s.Status)
		require.False(t, s.Held)
		found, err := operator.mutex().ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, found)
	})
}

func TestForceUnlockWithoutAQuorumOfAnswersEndsNothing(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		operator := w.process().mutex()
		each(w.quorum(), func(n *virtual.Node) { n.Silence(true) })
		found, err := operator.ForceUnlock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		require.False(t, found)
		each(w.quorum(), func(n *virtual.Node) { n.Silence(false) })
		requireHolder(t, l.ID(), w.nodes)
		require.NoError(t, l.Err())
	})
}

// What was a minority's when it was looked at may be granted by the time it is ended.
func TestForceUnlockTellsOfAHoldThatWasGrantedMeanwhile(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		const hold = "stranger:1"
		grant := func(n *virtual.Node) {
			n.Memory().HSet(keys.Lock, hold, "1")
			n.Memory().SetTTL(keys.Lock, time.Minute)
		}
		operator := w.process().mutex()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(5*time.Millisecond, 5*time.Millisecond) })
		grant(w.nodes[0])
		type answer struct {
			ended bool
			err   error
		}
		done := make(chan answer)
		go func() {
			ended, err := operator.ForceUnlockHold(bg, hold)
			done <- answer{ended, err}
		}()
		time.Sleep(7 * time.Millisecond) // Inspect has been answered by the nodes, and the removal is not there yet
		each(w.nodes[1:], grant)
		require.Equal(t, answer{true, nil}, <-done)
		requireHolder(t, "", w.nodes)
	})
}

// Whoever waits is woken, whichever kind of mutex it waits for and whichever is used to end the hold.
func TestForceUnlockWakesWaitersOfEitherMutex(t *testing.T) {
	for _, holds := range []string{"reentrant", "fair"} {
		for _, waits := range []string{"reentrant", "fair"} {
			for _, forces := range []string{"reentrant", "fair"} {
				t.Run(holds+", "+waits+" waits, by "+forces, func(t *testing.T) {
					inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
						each(w.nodes, func(n *virtual.Node) { n.SetDelay(time.Millisecond, 0) })
						w.lock(w.process().kinds()[holds])
						waiter := wait(bg, w.process().kinds()[waits])
						time.Sleep(time.Second)
						start := time.Now()
						operator := w.process().kinds()[forces].(lock.Inspector)
						ended, err := operator.ForceUnlock(bg)
						require.NoError(t, err)
						require.True(t, ended)
						g := await(t, waiter)
						require.NoError(t, g.err)
						require.Less(t, g.at.Sub(start), 40*time.Millisecond)
					})
				})
			}
		}
	}
}

func TestForceUnlockOfAHoldLeavesALaterOneAlone(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		operator, holder := w.process().forcers(), w.process().forcers()
		for kind, m := range holder {
			first := w.lock(m)
			require.NoError(t, first.Unlock(bg))
			second := w.lock(m)
			found, err := operator[kind].ForceUnlockHold(bg, first.ID())
			require.NoError(t, err)
			require.False(t, found)
			require.NoError(t, second.Extend(bg, time.Minute))
			found, err = operator[kind].ForceUnlockHold(bg, second.ID())
			require.NoError(t, err)
			require.True(t, found)
			requireHolder(t, "", w.nodes)
			require.ErrorIs(t, second.Unlock(bg), lock.ErrLost)
			_, err = operator[kind].ForceUnlockHold(bg, "")
			require.Error(t, err)
		}
	})
}

// What is wrong with a lock is the error of each call, also for a hold that was passed on within a process.
func TestForceUnlockOfAHoldByALockThatCannotBeIsRefused(t *testing.T) {
	for _, id := range []string{"nobody:1", "nobody:1.2"} {
		_, err := reentrantAt(&process{}, "orders").ForceUnlockHold(bg, id)
		require.ErrorContains(t, err, "the client is nil", id)
	}
}

// Its holder is told that it was force, wherever the holder is and whatever is the first to
// find out; a key that somebody deleted is another reason.
func TestForceIsToldFromADeletedKeyInAnotherProcess(t *testing.T) {
	finds := map[string]func(*lock.Lease) error{
		"renewal": func(l *lock.Lease) error { <-l.Done(); return l.Err() },
		"unlock":  func(l *lock.Lease) error { return l.Unlock(bg) },
		"extend":  func(l *lock.Lease) error { return l.Extend(bg, time.Minute) },
	}
	for name, find := range finds {
		for _, kind := range []string{"reentrant", "fair"} {
			for _, rival := range []bool{false, true} {
				t.Run(name+" "+kind, func(t *testing.T) {
					inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
						var log logbook
						operator, holder := w.process().forcers()[kind], w.process(log.option()).forcers()[kind]
						l := w.lock(holder)
						found, err := operator.ForceUnlock(bg)
						require.NoError(t, err)
						require.True(t, found)
						if rival {
							w.lock(operator)
						}
						err = find(l)
						require.ErrorIs(t, err, lock.ErrLost)
						require.Equal(t, lock.ReasonForced, reasonOf(t, l, err))
						synctest.Wait()
						require.Len(t, log.lines("lease lost", l.ID(), lock.ReasonForced.String()), 1)
					})
				})
			}
		}
	}
}

// An operator may keep nodes out for longer than the holders do: they have the hold all the same.
func TestForceIsToldThoughTheOperatorsGuardKeepsTheNodesOut(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		found, err := w.process(lock.WithRestartGuard(time.Hour)).mutex().ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, found)
		<-l.Done()
		require.Equal(t, lock.ReasonForced, reasonOf(t, l, l.Err()))
	})
}

// It learns of it with its next renewal, which may be far away.
func TestForceIsToldToAHolderWithALongTTL(t *testing.T) {
	for _, kind := range []string{"reentrant", "fair"} {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
				l := w.lock(w.process().kinds(lock.WithTTL(time.Hour))[kind])
				found, err := w.process().forcers()[kind].ForceUnlock(bg)
				require.NoError(t, err)
				require.True(t, found)
				<-l.Done()
				require.Equal(t, lock.ReasonForced, reasonOf(t, l, l.Err()))
			})
		})
	}
}

func TestForceIsToldToAHolderWhoseProcessTakesTheLockAgain(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.mutex())
		next := wait(bg, p.mutex())
		time.Sleep(pollBound) // it listens by now
		_, err := w.process().mutex().ForceUnlock(bg)
		require.NoError(t, err)
		require.NoError(t, (<-next).err)
		require.Equal(t, lock.ReasonForced, reasonOf(t, l, l.Err()))
	})
}

func TestForceUnlockIsNotUndoneByWhatComesLate(t *testing.T) {
	inVirtualTime(t, []int{1, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		each(w.minority(), func(n *virtual.Node) { n.Memory().Del(keys.Lock) }) // to be repaired
		_, err := w.process().mutex().ForceUnlockHold(bg, l.ID())
		require.NoError(t, err)
		time.Sleep(long)
		requireHolder(t, "", w.nodes)
		require.True(t, errors.Is(l.Err(), lock.ErrLost))
		each(w.nodes, func(n *virtual.Node) { require.False(t, n.Memory().Exists(keys.Void()), "no mark stays") })
	})
}

// What only a minority of nodes has granted is nobody's hold. It is cleaned up all the same.
func TestForceUnlockOfAMinoritysGrantEndsNobodysHold(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		w.nodes[0].Memory().HSet(keys.Lock, "stranger:1", "1")
		w.nodes[0].Memory().SetTTL(keys.Lock, time.Minute)
		ended, err := w.process().mutex().ForceUnlock(bg)
		require.NoError(t, err)
		require.False(t, ended)
		requireHolder(t, "", w.nodes)
	})
}

// Nobody may rely on an end that too few nodes have confirmed.
func TestForceUnlockThatAQuorumDoesNotConfirmFails(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		l := w.lock(w.process().mutex())
		each(w.quorum(), func(n *virtual.Node) {
			n.Refuse(func(args []string) bool { return releaseRuns(args) || removes(args) })
		})
		_, err := w.process().mutex().ForceUnlock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		requireHolder(t, l.ID(), w.quorum())
		each(w.quorum(), func(n *virtual.Node) { n.Refuse(nil) })
	})
}

// What is left of a hold of this process, which nodes have forgotten, ends by force as well.
func TestForceUnlockTellsOfAHoldOfItsOwnProcessThatAMinorityHas(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		l := w.lock(m)
		each(w.quorum(), func(n *virtual.Node) { n.Memory().Del(keys.Lock) })
		found, err := m.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, lock.ReasonForced, reasonOf(t, l, l.Err()))
	})
}

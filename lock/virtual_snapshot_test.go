package lock_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// queuers are the kinds of lock whose waiters keep one hold id however often they ask.
var queuers = map[string]func(*process, ...lock.Option) lock.Locker{
	"fair":  func(p *process, o ...lock.Option) lock.Locker { return p.queue(o...) },
	"write": func(p *process, o ...lock.Option) lock.Locker { return readwrite.New(p.locks, "orders", o...) },
	"read": func(p *process, o ...lock.Option) lock.Locker {
		return readwrite.New(p.locks, "orders", o...).RLocker()
	},
	"permits": func(p *process, o ...lock.Option) lock.Locker {
		return p.permits(1, o...).Locker(1)
	},
}

// A node that granted a waiter's request, which was given back since, may come back with a snapshot of that moment. The
// waiter asks by the same hold id, and the node has it: but others have had the lock meanwhile, and it has forgotten.
func TestANodeThatRestartsWithAWaitersOldGrantGrantsItNothing(t *testing.T) {
	for kind, of := range queuers {
		t.Run(kind, func(t *testing.T) {
			inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
				guard := lock.WithRestartGuard(defaultTTL)
				waits, holds := w.process(guard), w.process(guard)
				time.Sleep(defaultTTL + 2*time.Second) // the nodes are old enough
				for i := range w.minority() {
					holds.Cut(i, true)
				}
				holder := of(holds, lock.WithoutWatchdog()) // nor does it repair anything
				if kind == "read" {
					holder = readwrite.New(holds.locks, "orders", lock.WithoutWatchdog())
				}
				held := w.lock(holder)
				waiting := wait(bg, of(waits))
				time.Sleep(1200 * time.Millisecond) // it asks every half second, and not right now

				last := w.nodes[len(w.nodes)-1]
				queue, err := last.Memory().SortedSet(keys.Queue())
				require.NoError(t, err)
				require.Len(t, queue, 1)
				for hold := range queue {
					last.Flush()
					give(last, hold)
					last.Memory().SetTTL(keys.Lock, defaultTTL/2)
					switch kind {
					case "read":
						_, err = last.Memory().ZAdd(keys.Readers(), float64(time.Now().Add(defaultTTL/2).UnixMicro()), hold)
						require.NoError(t, err)
						last.Memory().SetTTL(keys.Readers(), defaultTTL/2)
					case "permits":
						last.Memory().HSet(keys.Slots(), hold, fmt.Sprint(time.Now().UnixMicro(), " 0"))
						last.Memory().SetTTL(keys.Slots(), defaultTTL/2)
					}
				}
				last.Reboot()
				next := await(t, waiting)
				require.NoError(t, next.err)
				require.False(t, next.at.Before(held.Deadline()), "granted %v before the holder's lease was over", held.Deadline().Sub(next.at))
				require.NoError(t, next.lease.Unlock(bg))
			})
		})
	}
}

// A node may also come back with such a grant once the waiter has the lock by others. What it has is not of this lease: it may
// have granted the lock to another before it was killed, who only needs one more node (spec/guard.pml).
func TestAnOldGrantOfANodeThatRestartsConfirmsNoLease(t *testing.T) {
	for kind, of := range queuers {
		for _, extends := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, extended by hand %t", kind, extends), func(t *testing.T) {
				inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
					guard := lock.WithRestartGuard(defaultTTL)
					waits, holds := w.process(guard), w.process(guard)
					time.Sleep(defaultTTL + 2*time.Second) // the nodes are old enough
					holder := of(holds)
					if kind == "read" {
						holder = readwrite.New(holds.locks, "orders")
					}
					held := w.lock(holder)
					waiting := wait(bg, of(waits))
					time.Sleep(1200 * time.Millisecond) // it asks, and is refused
					require.NoError(t, held.Unlock(bg))
					got := await(t, waiting)
					require.NoError(t, got.err)
					time.Sleep(defaultTTL / 2) // a renewal has given it to every node

					last := w.nodes[len(w.nodes)-1]
					i := slices.IndexFunc(w.nodes, func(n *virtual.Node) bool { return n.Memory().HGet(keys.Lock, got.lease.ID()) != "" })
					require.GreaterOrEqual(t, i, 0)
					before := snapshot(t, w.nodes[i])
					last.Flush()
					before(last)
					last.Memory().HSet(keys.Waiters(), got.lease.ID()+" round", "1 0")
					last.Memory().SetTTL(keys.Waiters(), defaultTTL)
					last.Reboot()
					for i := range len(w.nodes) / 2 { // which would make a quorum without it
						waits.Cut(i, true)
					}
					if extends {
						for range 3 { // a connection of before the restart has to be found out first
							require.ErrorIs(t, got.lease.Extend(bg, defaultTTL), lock.ErrNoQuorum)
						}
						return
					}
					awaitEnd(t, got.lease)
					require.Equal(t, lock.ReasonNotRenewed, reasonOf(t, got.lease, got.lease.Err()))
				})
			})
		}
	}
}

// One node knows that the lock was ended by force, one was not reached by that, and one has forgotten it.
func TestAHoldThatWasEndedByForceIsLostThoughAQuorumHasIt(t *testing.T) {
	kinds := map[string]func(*process, ...lock.Option) lock.Locker{
		"reentrant": func(p *process, o ...lock.Option) lock.Locker { return p.mutex(o...) },
	}
	for kind, of := range queuers {
		kinds[kind] = of
	}
	for kind, of := range kinds {
		for _, c := range []struct{ late, extends bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
			t.Run(fmt.Sprintf("%s, heard late %t, extended by hand %t", kind, c.late, c.extends), func(t *testing.T) {
				inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
					holder, operator := w.process(), w.process()
					var opts []lock.Option
					if c.extends {
						opts = append(opts, lock.WithoutWatchdog())
					}
					l := w.lock(of(holder, opts...))
					last := w.nodes[len(w.nodes)-1]
					before := snapshot(t, last)
					for i := range len(w.nodes) / 2 { // not reached
						operator.Cut(i, true)
					}
					ended, err := of(operator).(lock.Inspector).ForceUnlock(bg)
					require.NoError(t, err)
					require.True(t, ended)
					synctest.Wait()
					last.Flush()
					before(last)
					last.Reboot()
					if c.late {
						w.nodes[len(w.nodes)-2].SetDelay(20*time.Millisecond, 20*time.Millisecond)
					}
					began := time.Now()
					if c.extends {
						_ = l.Extend(bg, defaultTTL)
					}
					awaitEnd(t, l)
					require.Equal(t, lock.ReasonForced, reasonOf(t, l, l.Err()))
					require.Less(t, time.Since(began), defaultTTL/3+time.Second, "with the next renewal")
				})
			})
		}
	}
}

// snapshot returns a function that gives a node what n has now.
func snapshot(t *testing.T, n *virtual.Node) (restore func(*virtual.Node)) {
	t.Helper()
	m := n.Memory()
	var all []func(*miniredis.Miniredis)
	for _, key := range m.Keys() {
		ttl := m.TTL(key)
		switch m.Type(key) {
		case "string":
			text, err := m.Get(key)
			require.NoError(t, err)
			all = append(all, func(m *miniredis.Miniredis) { require.NoError(t, m.Set(key, text)) })
		case "hash":
			fields, err := m.HKeys(key)
			require.NoError(t, err)
			for _, field := range fields {
				text := m.HGet(key, field)
				all = append(all, func(m *miniredis.Miniredis) { m.HSet(key, field, text) })
			}
		case "zset":
			members, err := m.SortedSet(key)
			require.NoError(t, err)
			for member, score := range members {
				all = append(all, func(m *miniredis.Miniredis) { _, err := m.ZAdd(key, score, member); require.NoError(t, err) })
			}
		}
		all = append(all, func(m *miniredis.Miniredis) { m.SetTTL(key, ttl) })
	}
	return func(n *virtual.Node) {
		for _, again := range all {
			again(n.Memory())
		}
	}
}

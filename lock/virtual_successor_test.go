package lock_test

import (
	"cmp"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// A successor of a fair lock is told of the release by nobody. Whatever becomes of its request,
// it takes the lock soon, and not with its next sign of life.

// hurry is the most that a successor waits once it can take the lock.
const hurry = 50 * time.Millisecond

// successor has a process wait for the lock, whose next sign of life is a second away.
func successor(p *process) <-chan grant {
	g := wait(bg, p.queue(lock.WithWaiterHeartbeat(beat)))
	synctest.Wait()
	time.Sleep(20*time.Second + beat/16)
	return g
}

// forget has every node forget the script of the release. So that comes a round trip after
// the request that was sent behind it.
func forget(t *testing.T, p *process) {
	t.Helper()
	for _, c := range p.Clients(t) {
		require.NoError(t, c.ScriptFlush(bg).Err())
		for _, s := range []lua.Call{lua.FairAcquire{}.Call(), lua.FairBeat{}.Call()} {
			require.NoError(t, c.ScriptLoad(bg, s.Script().Source).Err())
		}
		require.NoError(t, c.Close())
	}
}

func TestHeirAsksAgainIfTheHeadLeftBetweenItsRequestAndTheRelease(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		const way = 20 * time.Millisecond
		p := w.process()
		l := w.lock(p.queue())
		first := successor(p)
		require.NoError(t, l.Unlock(bg))
		l = (<-first).lease // over connections that are there from now on
		ctx, cancel := context.WithCancel(bg)
		head := wait(ctx, w.process().queue())
		synctest.Wait()
		g := successor(p)
		forget(t, p)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(way, way) })
		cancel() // the head's release takes three ways, too
		time.Sleep(way + way/4)
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		require.Error(t, (<-head).err)
		// The release runs after three ways.
		(<-g).after(t, start, 4*way, 5*way+hurry)
	})
}

func TestHeirIsNoSlowerForTroublesOfLongAgo(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		p := w.process()
		l := w.lock(p.queue(lock.WithTTL(time.Minute)))
		each(w.nodes, (*virtual.Node).Pause)
		time.AfterFunc(10*time.Second, func() { each(w.nodes, (*virtual.Node).Resume) })
		g := successor(p)
		forget(t, p)
		start := time.Now()
		require.NoError(t, l.Unlock(bg))
		(<-g).after(t, start, 0, hurry)
	})
}

func TestHeirAsksAgainSoonAfterItsConnectionStalled(t *testing.T) {
	inVirtualTime(t, []int{1, 3, 5}, func(t *testing.T, w *world) {
		const stall = 900 * time.Millisecond
		p := w.process()
		l := w.lock(p.queue())
		g := successor(p)
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(stall, 0) })
		time.AfterFunc(time.Millisecond, func() { each(w.nodes, func(n *virtual.Node) { n.SetDelay(0, 0) }) })
		start := time.Now()
		_ = l.Unlock(bg) // too few nodes answer
		(<-g).after(t, start, 0, stall+hurry)
	})
}

// What else the successor is told meanwhile does not change that the release counts on it.
func TestHeirAsksAgainIfANodeWasSlowAndAStrangerAheadOnAnother(t *testing.T) {
	for name, told := range map[string]bool{"": false, "told of something else": true} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
				p := w.process()
				l := w.lock(p.queue())
				// The stranger comes to reach one node alone.
				others := virtual.StartN(t, 3)
				strange, err := lock.NewClient(virtual.NewHost([]*virtual.Node{others[0], w.nodes[1], others[2]}).Clients(t))
				require.NoError(t, err)
				defer func() { _ = strange.Close() }()
				others[0].Kill()
				others[2].Kill()
				ctx, cancel := context.WithCancel(bg)
				defer cancel()
				wait(ctx, fair.New(strange, "orders"))
				time.Sleep(5 * time.Second)

				w.nodes[2].SetDelay(time.Millisecond, 0) // its ticket is a quorum's that knows the stranger
				g := successor(p)
				state, err := p.queue().Inspect(bg)
				require.NoError(t, err)
				const slow = 2*defaultNodeTimeout + 50*time.Millisecond
				w.nodes[2].SetDelay(slow, 0)
				time.AfterFunc(time.Millisecond, func() { w.nodes[2].SetDelay(0, 0) })
				if told {
					time.AfterFunc(defaultNodeTimeout/2, func() {
						w.nodes[0].Publish("lock:channel:"+p.locks.ID(), state.Nodes[0].Queue[0]+" another")
					})
				}
				start := time.Now()
				require.NoError(t, l.Unlock(bg))
				(<-g).after(t, start, slow, slow+hurry)
			})
		})
	}
}

// A waiter of another process is woken by a quorum of nodes. If one of these fails before it asks, it needs a
// node that did not have the release yet, and whose own message is about what it has been told.
func TestWaiterThatCameBeforeTheReleaseAsksAgain(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		const way, slow = 20 * time.Millisecond, 150 * time.Millisecond
		few := len(w.nodes) / 2
		p := w.process()
		l := w.lock(p.queue())
		_, g := w.queueUp(bg)
		time.Sleep(20*time.Second + beat/16) // the next sign of life is far
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(way, way) })
		late, failing := w.nodes[:few], w.nodes[len(w.nodes)-few:]
		each(late, func(n *virtual.Node) { n.SetDelay(slow, way) })
		time.AfterFunc(time.Millisecond, func() { each(late, func(n *virtual.Node) { n.SetDelay(way, way) }) })
		time.AfterFunc(way+way/2, func() { each(failing, (*virtual.Node).Kill) }) // they have told it
		start := time.Now()
		_ = l.Unlock(bg)
		(<-g).after(t, start, slow, slow+2*way+defaultNodeTimeout+hurry) // in which it is not known what ails the dead
	})
}

// Where several holds end at once, or leave, each node may name another cause.
func TestWaiterAsksAgainWhicheverNodeHasToldItOfTheEnd(t *testing.T) {
	for _, causes := range [][2]string{{"", "another"}, {"another", ""}} {
		inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
			l := w.lock(w.process().queue())
			p, _ := w.queueUp(bg)
			state, err := p.queue().Inspect(bg)
			require.NoError(t, err)
			asked := w.commands(runs(lua.FairAcquire{}))
			for i, cause := range causes {
				w.nodes[i].Publish("lock:channel:"+p.locks.ID(), state.Queue[0]+" "+cmp.Or(cause, l.ID()))
			}
			time.Sleep(3 * hurry)
			require.Greater(t, w.commands(runs(lua.FairAcquire{})), asked+2*3, "it has asked, and asked again")
			require.NoError(t, l.Unlock(bg))
		})
	}
}

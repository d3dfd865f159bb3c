package semaphore_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/semaphore"
)

// scripts by what they do, to aim faults at.
var faulty = []interface{ Call() lua.Call }{
	lua.PermitAcquire{}, lua.PermitRelease{}, lua.PermitYield{}, lua.PermitSettle{}, lua.PermitExtend{},
	lua.PermitRepair{}, lua.PermitRestore{}, lua.PermitFence{}, lua.PermitBeat{},
}

// Messages that are lost, doubled, late, or whose answers are lost, give nobody a slot that another has.
func TestSlotsHoldWhateverTheNetworkDoes(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	var proxies []*redistest.Proxy
	for _, s := range r.servers {
		proxies = append(proxies, redistest.NewProxy(t, s.Addr()))
	}
	r.connect = func(t testing.TB) (all []redis.UniversalClient) {
		for _, p := range proxies {
			all = append(all, p.Client(t))
		}
		return all
	}
	ctx, end := context.WithCancel(bg)
	defer end()
	const permits, least = 3, 20
	var wg sync.WaitGroup
	for range 3 {
		c := r.client(t, lock.WithNodeTimeout(100*time.Millisecond))
		s := semaphore.New(c, r.name, permits, lock.WithTTL(3*time.Second))
		for range 3 {
			wg.Go(func() {
				for ctx.Err() == nil {
					n := 1 + rand.IntN(2)
					p, err := s.Acquire(ctx, n)
					if err != nil {
						continue
					}
					r.watch.enter(p, n)
					work(20 * time.Millisecond)
					r.watch.leave(p) // before it may be lost: the watch does not know of that
					_ = p.Release(bg)
				}
			})
		}
	}
	pace := time.NewTicker(30 * time.Millisecond)
	defer pace.Stop()
	busy := func() bool { return r.watch.granted() <= least } // on a busy machine nodes are silent for most of the time
	for begin := time.Now(); time.Since(begin) < 6*time.Second || busy() && time.Since(begin) < 2*time.Minute; {
		p := proxies[rand.IntN(len(proxies))]
		match := redistest.Script(faulty[rand.IntN(len(faulty))].Call().Script().SHA)
		switch rand.IntN(5) {
		case 0:
			p.DropReply(match, 1)
		case 1:
			p.SwallowReply(match, 1)
		case 2:
			p.DropRequest(match, 1)
		case 3:
			p.Duplicate(match, 1)
		case 4:
			late := p.Hold(match, 1)
			time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, late.Release)
		}
		<-pace.C
	}
	end()
	wg.Wait()
	r.watch.requireSound(t, permits)
	require.Greater(t, r.watch.granted(), least, "and somebody gets some")
}

// One node after the other forgets everything. What it forgot is given back with the next renewal, and its
// slots are nobody else's meanwhile.
func TestNodesThatForgetGiveNoSlotTwice(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		r := newRig(t, n)
		s, other := r.semaphore(t, 3, lock.WithTTL(6*short)), r.semaphore(t, 3)
		two := take(t, s, 2)
		has := func(server *redistest.Server) bool {
			held, err := server.Client(t).HExists(bg, "lock:{limit}", two.ID()).Result()
			return err == nil && held
		}
		for _, server := range r.servers {
			redistest.Eventually(t, within, func() bool { return has(server) }, "it is everywhere")
		}
		for _, server := range r.servers {
			require.NoError(t, server.Client(t).FlushAll(bg).Err())
			_, err := other.TryAcquire(bg, 2)
			require.ErrorIs(t, err, lock.ErrLocked)
			one, err := other.TryAcquire(bg, 1)
			require.NoError(t, err)
			require.Equal(t, []int{2}, one.Slots(), "not what the node that forgot would have given")
			release(t, one)
			redistest.Eventually(t, within, func() bool { return has(server) }, "it is given back")
		}
		require.NoError(t, two.Err())
		release(t, two)
		r.requireNoKeys(t)
	}
}

// A majority that has restarted, and forgotten, gives no slots before the guard is over.
func TestRestartedNodesGiveNoSlots(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	s := r.semaphore(t, 2, lock.WithTTL(30*time.Second))
	two := take(t, s, 2)
	for _, server := range r.servers[:2] {
		server.Kill()
		server.Start()
	}
	guarded := semaphore.New(r.client(t, lock.WithRestartGuard(time.Minute)), r.name, 2)
	_, err := guarded.TryAcquire(bg, 1)
	require.ErrorIs(t, err, lock.ErrNoQuorum)
	require.ErrorIs(t, err, lock.ErrRestarted)
	state, err := guarded.Inspect(bg)
	require.NoError(t, err)
	for _, n := range state.Nodes {
		require.True(t, n.Reachable)
		require.ErrorIs(t, n.Err, lock.ErrRestarted, "all servers are young here")
	}
	_ = two.Release(bg)
}

// Nodes give different slots: those that differ from a quorum take theirs back, and give the right ones.
func TestNodesThatDifferAreAligned(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	s := r.semaphore(t, 3)
	// On one node a stranger, whom nobody else knows, has the lowest slot.
	alone, err := lock.NewClient([]redis.UniversalClient{r.servers[0].Client(t)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = alone.Close() })
	stranger := take(t, semaphore.New(alone, r.name, 3), 1)
	p := take(t, s, 2)
	require.Equal(t, []int{0, 1}, p.Slots())
	release(t, stranger)
	onAll := func(held int) func() bool {
		return func() bool {
			state, err := s.Inspect(bg)
			if err != nil {
				return false
			}
			for _, n := range state.Nodes {
				if len(n.Slots) != held || held == 2 && (n.Slots[0].Number != 0 || n.Slots[1].Number != 1) {
					return false
				}
			}
			return true
		}
	}
	redistest.Eventually(t, promptly, onAll(2), "each node has the same slots")
	release(t, p)
	redistest.Eventually(t, promptly, onAll(0), "and gives them back")
}

// No quorum gives the same slots: they are asked for by name.
func TestSlotsThatASplitVoteGaveAreAskedForByName(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	s := r.semaphore(t, 4)
	// On two nodes strangers have one slot and two: the lowest free ones are 0, 1 and 2.
	for i, n := range []int{1, 2} {
		alone, err := lock.NewClient([]redis.UniversalClient{r.servers[i].Client(t)})
		require.NoError(t, err)
		t.Cleanup(func() { _ = alone.Close() })
		take(t, semaphore.New(alone, r.name, 4), n)
	}
	p, q := take(t, s, 1), take(t, s, 1)
	require.NotEqual(t, p.Slots(), q.Slots())
	release(t, p, q)
}

// Each node has another low slot free, and only one that they have in common.
func TestTheSlotsThatNodesHaveInCommonAreFound(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	s := r.semaphore(t, 5)
	for i := range r.servers {
		alone, err := lock.NewClient([]redis.UniversalClient{r.servers[i].Client(t)})
		require.NoError(t, err)
		t.Cleanup(func() { _ = alone.Close() })
		strangers := semaphore.New(alone, r.name, 5)
		var all []*semaphore.Permit
		for range 3 {
			all = append(all, take(t, strangers, 1))
		}
		release(t, all[i]) // of 0, 1 and 2 this node has i free
	}
	p := take(t, s, 1)
	require.Equal(t, []int{3}, p.Slots())
	release(t, p)
}

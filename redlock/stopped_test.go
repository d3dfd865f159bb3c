package redlock_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestStoppedNodeOutOfFiveCostsNothingVisible(t *testing.T) {
	const acquisitions = 3000
	servers := redistest.StartN(t, 5)
	clients := redistest.Clients(t, servers)
	// A proxy before the one that is stopped counts its connections; the others would
	// only fill the heap with what they remember.
	proxy := redistest.NewProxy(t, servers[4].Addr())
	clients[4] = proxy.Client(t)
	g := met(t, clients...)

	times := make([]time.Duration, 0, acquisitions)
	cycle := func() {
		h := newHold(t, g, "orders")
		start := time.Now()
		b := decide(t, g, h.acquire())
		times = append(times, time.Since(start))
		require.NoError(t, b.Err())
		require.NoError(t, decide(t, g, h.release()).Err())
	}
	for range 500 {
		cycle()
	}
	usual := median(times)
	times = times[:0]
	heap := heapNow()

	servers[4].Pause()
	for range acquisitions {
		cycle()
	}
	most := proxy.Connections()
	slices.Sort(times)
	t.Logf("median %v before, %v with a stopped node; 99%%: %v, slowest: %v; %d connections",
		usual, median(times), times[len(times)*99/100], times[len(times)-1], most)
	require.Less(t, median(times), 3*usual+time.Millisecond)
	require.Less(t, times[len(times)*99/100], timeout/2, "nobody waits for the stopped node")
	require.LessOrEqual(t, runners(), 5+4, "one for each node, and four that try to pass what is stuck")
	require.LessOrEqual(t, most, 8)
	require.Less(t, heapNow(), heap+4<<20)

	servers[4].Resume()
	redistest.Eventually(t, within, func() bool { return len(keysButMarks(t, servers[4])) == 0 }, "nothing is left there")
	redistest.Eventually(t, within, func() bool { return runners() == 5 }, "one goroutine for each node")
}

func TestConcurrentCallersSharePipelinesAroundAStoppedNode(t *testing.T) {
	servers := redistest.StartN(t, 5)
	g := met(t, redistest.Clients(t, servers)...)
	servers[0].Pause()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 100 {
				if b, err := g.Decide(bg, probe()); err != nil || !b.Won() {
					t.Error("not won")
				}
			}
		})
	}
	wg.Wait()
	redistest.Eventually(t, within, func() bool { return runners() <= 5+4 }, "those for crowds have ended")
	servers[0].Resume()
	// One connection to each that works, and a few that were stuck.
	for _, s := range servers {
		require.Regexp(t, `^[1-7]$`, s.Info(t, "clients", "connected_clients"))
	}
}

func TestBlackHoledConnectionIsPassedByANewOne(t *testing.T) {
	_, proxies, clients := proxied(t, 1)
	g := met(t, clients...)
	proxies[0].Blackhole(true)
	proxies[0].Blackhole(false) // new connections work, those that were open are dead
	require.False(t, decide(t, g, probe()).Won())
	start := time.Now()
	require.True(t, decide(t, g, probe()).Won())
	require.Less(t, time.Since(start), timeout)
	proxies[0].Reset()
}

func TestBlackHoledConnectionOfALaneIsPassedByANewOne(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	g := met(t, clients...)
	for _, p := range proxies {
		p.Blackhole(true)
		p.Blackhole(false)
	}
	first := g.Vote(probe())
	require.NoError(t, first.Wait(bg))
	require.False(t, first.Won())
	// The flight is stuck for another 1.8 s, which is not waited for.
	all := probe()
	all.All = true
	start := time.Now()
	b := decide(t, g, all)
	require.Less(t, time.Since(start), timeout)
	require.NoError(t, b.Err())
	for i := range proxies {
		require.NoError(t, b.Answer(i).Err)
		proxies[i].Reset()
	}
}

func TestCloseIsBoundedWhileANodeIsSilent(t *testing.T) {
	_, proxies, clients := proxied(t, 3)
	g := met(t, clients...)
	proxies[0].SwallowReply(scripts, 1)
	all := probe()
	all.All = true
	require.True(t, decide(t, g, all).Won())
	start := time.Now()
	g.Close()
	require.Less(t, time.Since(start), 10*timeout+time.Second)
	g.Close() // again

	b := decide(t, g, probe())
	require.False(t, b.Won())
	require.ErrorContains(t, b.Err(), "closed")
}

func TestCloseSendsWhatIsQueued(t *testing.T) {
	servers, proxies, clients := proxied(t, 3)
	g := met(t, clients...)
	for _, p := range proxies {
		p.SetDelay(20 * time.Millisecond)
	}
	h := newHold(t, g, "orders")
	m := h.acquire()
	m.All = true
	require.True(t, decide(t, g, m).Won())
	b := g.Vote(h.release())
	g.Close()
	require.True(t, b.Won())
	for _, s := range servers {
		require.False(t, h.on(t, s))
	}
}

func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

func heapNow() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

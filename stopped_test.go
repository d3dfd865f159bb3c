package redlock_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

// Nor does it cost any time: see TestStoppedNodeDelaysNobody.
func TestStoppedNodeOutOfFiveCostsNothingVisible(t *testing.T) {
	const acquisitions = 3000
	servers := redistest.StartN(t, 5)
	// Buffers of connections, of 64 KiB each, would be half of the heap.
	small := func(o *redis.Options) { o.ReadBufferSize, o.WriteBufferSize = 4<<10, 4<<10 }
	clients := redistest.Clients(t, servers, small)
	// A proxy before the one that is stopped counts its connections; the others would
	// only fill the heap with what they remember.
	proxy := redistest.NewProxy(t, servers[4].Addr())
	clients[4] = proxy.Client(t, small)
	g := hasty(t, timeout, clients...)

	cycle := func() { // on a busy machine another node may be silent now and then
		h := newHold(t, g, "orders")
		decide(t, g, h.acquire())
		decide(t, g, h.release())
	}
	for range 500 {
		cycle()
	}
	heap := heapNow()

	servers[4].Pause()
	deadline := time.Now().Add(10 * timeout) // well into the time when it is known to be stuck
	for n := 0; n < acquisitions || time.Now().Before(deadline); n++ {
		cycle()
	}
	most := proxy.Connections()
	require.LessOrEqual(t, runners(), 5+4, "one for each node, and four that try to pass what is stuck")
	require.LessOrEqual(t, most, 8)
	require.Less(t, heapNow(), heap+4<<20)

	servers[4].Resume()
	redistest.Eventually(t, within, func() bool { return len(keysButMarks(t, servers[4])) == 0 }, "nothing is left there")
	redistest.Eventually(t, within, func() bool { return runners() == 5 }, "one goroutine for each node")
}

func TestConcurrentCallersSharePipelinesAroundAStoppedNode(t *testing.T) {
	servers := redistest.StartN(t, 5)
	g := hasty(t, slow, redistest.Clients(t, servers)...)
	servers[0].Pause()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 100 {
				if b, err := g.Decide(bg, probe()); err != nil || !b.Won() && !errors.Is(b.Err(), redlock.ErrSilent) {
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
	runtime.GC() // what pools keep is let go with the second one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

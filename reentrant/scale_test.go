package reentrant_test

import (
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// What ten thousand leases and as many waiters cost is the same as for one of each,
// their memory and the blocked callers themselves aside (I8).
func TestGoroutinesAndConnectionsGrowWithNodesOnly(t *testing.T) {
	const nodes, leases, waiters, names = 3, 10_000, 10_000, 1_000
	servers := redistest.StartN(t, nodes)
	// A thousand callers wake at once, and a busy machine may take its time.
	c := newClient(t, redistest.Clients(t, servers), lock.WithNodeTimeout(5*time.Second))
	began := time.Now()

	// One of each.
	first := reentrant.New(c, "first")
	lease, err := first.Lock(bg)
	require.NoError(t, err)
	served := make(chan error)
	go func() {
		next, err := first.Lock(bg)
		if err == nil {
			err = next.Unlock(bg)
		}
		served <- err
	}()
	requireBlocked(t, 1)
	few := goroutinesIn(beside...)
	require.NoError(t, lease.Unlock(bg))
	require.NoError(t, <-served)

	// Thousands.
	held := make([]*lock.Lease, leases)
	each(t, leases, 500, func(i int) (err error) {
		held[i], err = reentrant.New(c, fmt.Sprint("name ", i)).Lock(bg)
		return err
	})
	holding := time.Since(began)
	var wg sync.WaitGroup
	for i := range waiters {
		wg.Go(func() {
			next, err := reentrant.New(c, fmt.Sprint("name ", i%names)).Lock(bg)
			if err == nil {
				err = next.Unlock(bg)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	requireBlocked(t, waiters)
	blocked := time.Since(began)
	many := goroutinesIn(beside...)
	connections := 0
	for _, s := range servers {
		connections = max(connections, connectionsTo(t, s))
	}
	t.Logf("goroutines beside the callers: %d with one lease and one waiter, %d with %d and %d; connections to a node: %d",
		few, many, leases, waiters, connections)
	require.GreaterOrEqual(t, few, nodes, "they are found")
	require.LessOrEqual(t, few, 8*nodes)
	require.LessOrEqual(t, many, 8*nodes)
	require.LessOrEqual(t, connections, 12)

	// None of them is forgotten, and Close ends what nobody has unlocked.
	for _, l := range held {
		require.NoError(t, l.Err())
	}
	each(t, names, 100, func(i int) error { return held[i].Unlock(bg) })
	wg.Wait()
	drained := time.Since(began)
	require.NoError(t, c.Close())
	for _, s := range servers {
		redistest.Eventually(t, within, func() bool { return locksOn(t, s) == 0 }, "no lock is left")
	}
	t.Logf("%d leases after %v, %d waiters after %v, all served after %v, all given back after %v",
		leases, holding.Round(time.Millisecond), waiters, blocked.Round(time.Millisecond),
		drained.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
}

// requireBlocked waits until n callers of Lock sleep.
func requireBlocked(t *testing.T, n int) {
	t.Helper()
	var asleep int
	redistest.Eventually(t, 2*within, func() bool {
		asleep = goroutinesIn("lock.(*acquisition).sleep")
		return asleep == n
	}, "%d callers are blocked, %v", n, stringer(func() string { return fmt.Sprint(asleep, " are") }))
}

// beside are packages whose goroutines are not the callers' while these sleep.
var beside = []string{"holdfast/redlock.", "holdfast/watchdog.", "holdfast/waiter.", "redis/go-redis/"}

// goroutinesIn counts the goroutines that have one of the functions on their stack.
func goroutinesIn(functions ...string) (total int) {
	var profile strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a Builder takes it all
	_, stacks, _ := strings.Cut(profile.String(), "\n")
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		if slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(stack, f) }) {
			var n int
			_, _ = fmt.Sscanf(stack, "%d @", &n) // goroutines with the same stack
			total += n
		}
	}
	return total
}

// connectionsTo is how many connections a server has, the one that asks aside.
func connectionsTo(t *testing.T, s *redistest.Server) int {
	t.Helper()
	admin := s.Client(t)
	defer admin.Close()
	list, err := admin.ClientList(bg).Result()
	require.NoError(t, err)
	return strings.Count(list, "\n") - 1
}

// locksOn is how many locks are held on a server.
func locksOn(t *testing.T, s *redistest.Server) int {
	t.Helper()
	n := 0
	for _, key := range s.Keys(t) {
		if strings.HasSuffix(key, "}") {
			n++
		}
	}
	return n
}

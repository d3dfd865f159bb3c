package reentrant_test

import (
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
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
	// A thousand callers wake at once, and a busy machine may take its time. It is not to renew
	// ten thousand leases meanwhile. It is not the client's pool that bounds the connections.
	clients := redistest.Clients(t, servers, func(o *redis.Options) { o.PoolSize = 100 })
	c := newClient(t, clients, lock.WithNodeTimeout(within), lock.WithTTL(time.Hour))
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
	requireBlocked(t, 1, 0)
	few := requireFewBeside(t, 8*nodes)
	require.GreaterOrEqual(t, few, nodes, "they are found")
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
	requireBlocked(t, waiters, names)
	blocked := time.Since(began)
	many := requireFewBeside(t, 8*nodes)
	connections := 0
	for _, s := range servers {
		connections = max(connections, connectionsTo(t, s))
	}
	t.Logf("goroutines beside the callers: %d with one lease and one waiter, %d with %d and %d; connections to a node: %d",
		few, many, leases, waiters, connections)
	// A lane has 16 commands away at the most if its node seems to be far, and three that try to
	// get past them; there are one for messages and one to ask whether batches work.
	require.LessOrEqual(t, connections, 16+3+2)

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

// requireBlocked waits until n callers are in Lock, of whom all sleep but the heads: these look
// every few seconds, so that some of a thousand may be doing that at any time.
func requireBlocked(t *testing.T, n, heads int) {
	t.Helper()
	var in, asleep int
	redistest.Eventually(t, 2*within, func() bool {
		in = goroutinesIn(func(stack string) bool { return strings.Contains(stack, locking) })
		asleep = goroutinesIn(func(stack string) bool { return strings.Contains(stack, "lock.(*call).sleep") })
		return in == n && asleep >= n-heads
	}, "%d callers are blocked, %v", n, stringer(func() string { return fmt.Sprint(in, " are in Lock, ", asleep, " sleep") }))
}

// locking is what is on the stack of each caller.
const locking = "lock.(*engine).acquire"

// requireFewBeside waits until no more than most goroutines of the library are there beside the
// callers: more while much is under way.
func requireFewBeside(t *testing.T, most int) (found int) {
	t.Helper()
	packages := []string{"holdfast/redlock.", "holdfast/watchdog.", "holdfast/waiter.", "redis/go-redis/"}
	redistest.Eventually(t, within, func() bool {
		found = goroutinesIn(func(stack string) bool {
			return !strings.Contains(stack, locking) &&
				slices.ContainsFunc(packages, func(p string) bool { return strings.Contains(stack, p) })
		})
		return found <= most
	}, "%d goroutines at the most, %v", most, stringer(func() string { return fmt.Sprint(found, " are there") }))
	return found
}

// goroutinesIn counts the goroutines whose stack matches.
func goroutinesIn(match func(stack string) bool) (total int) {
	var profile strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a Builder takes it all
	_, stacks, _ := strings.Cut(profile.String(), "\n")
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		if match(stack) {
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

package fair_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/reentrant"
)

// What it costs.

func TestUncontendedItSendsWhatReentrantSends(t *testing.T) {
	t.Parallel()
	const rounds = 50
	for _, n := range []int{1, 3, 5} {
		r := newRig(t, n)
		count := func(of func(*lock.Client) lock.Locker) (scripts, subscriptions int) {
			c, proxies := r.proxied(t, calm, lock.WithNodeTimeout(within)) // nobody is asked twice
			for range rounds {
				lease, err := of(c).Lock(bg)
				require.NoError(t, err)
				require.NoError(t, lease.Unlock(bg))
			}
			require.NoError(t, c.Close()) // waits for what is under way
			// Where fencing counters differ, the token takes a round of its own, of any lock. On a
			// machine that is busy, a node may be probed, or given back what came too late.
			for _, call := range []func([]string) bool{
				script(lua.Acquire{}), script(lua.FairAcquire{}), script(lua.Release{}), script(lua.FairRelease{}),
			} {
				scripts += sent(proxies, call)
			}
			return scripts, sent(proxies, redistest.Command("SUBSCRIBE"))
		}
		scripts, subscriptions := count(func(c *lock.Client) lock.Locker { return r.mutex(c) })
		others, _ := count(func(c *lock.Client) lock.Locker { return reentrant.New(c, "another") })
		t.Logf("%d nodes, %d times lock and unlock: %d scripts, reentrant %d", n, rounds, scripts, others)
		require.Zero(t, subscriptions, "nobody has to be woken")
		// Whom a decision came too early for is not asked any more.
		require.LessOrEqual(t, scripts, 2*rounds*n, "one for each node to lock, and one to unlock")
		require.LessOrEqual(t, others, 2*rounds*n)
		require.GreaterOrEqual(t, scripts, 2*rounds*r.quorum())
		r.requireDrained(t)
	}
}

func TestCommandsPerHandOverDoNotGrowWithTheWaiters(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			r := newRig(t, n)
			r.users = append(r.users, redistest.WithoutInfo(t, r.servers)) // each script is counted
			few := r.costPerHandOver(t, 10)
			r.costPerHandOver(t, 100)
			many := r.costPerHandOver(t, 1000)
			require.LessOrEqual(t, many.scripts, 4.0+many.looks)
			// On a busy machine successors ask too early, and again: see TestScriptsPerHandOverDoNotGrowWithTheWaiters.
			require.LessOrEqual(t, many.all/many.scripts, 1.5*few.all/few.scripts*(1+many.looks), "a hundred times as many wait")
			r.requireDrained(t)
		})
	}
}

// The nodes agree with the process on who is next, so they need not tell it.
func TestHandOversInsideAProcessPublishNothing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		r := newRig(t, n)
		p := apart{here{r.client(t, calm)}} // each of them has the lock from the nodes
		const waiters = 50
		lease := r.hold(t, calm)
		var calls []*call
		for i := range waiters {
			calls = append(calls, r.enqueue(t, p, fmt.Sprint("waiter ", i)))
		}
		before := r.published(t)
		require.NoError(t, lease.Unlock(bg))
		r.serve(t, calls...)
		// The first is told by the holder's, another client's.
		require.Less(t, r.published(t)-before, n*waiters/5, "%d nodes", n)
		r.requireDrained(t)
	}
}

// published counts the messages that all servers have published.
func (r *rig) published(t *testing.T) int {
	t.Helper()
	sum := 0
	for _, s := range r.servers {
		stats := s.Info(t, "commandstats", "cmdstat_publish")
		if stats == "" {
			continue // never
		}
		calls, _, _ := strings.Cut(strings.TrimPrefix(stats, "calls="), ",")
		n, err := strconv.Atoi(calls)
		require.NoError(t, err)
		sum += n
	}
	return sum
}

// A cost is what each node had to do for one hand-over. Whoever is told nothing for half a minute
// looks by itself, which it may come to on a busy machine: so often at the most.
type cost struct{ scripts, all, looks float64 }

// costPerHandOver has the lock go through a queue of so many waiters of two processes, and
// asks the servers what they were asked.
func (r *rig) costPerHandOver(t *testing.T, waiters int) cost {
	t.Helper()
	// A node that is late is not asked again.
	lease := r.hold(t, calm, lock.WithNodeTimeout(within))
	began := time.Now()
	// Each is granted the lock by the nodes: how many are served within one tenure depends on the machine.
	parties := []party{apart{here{r.client(t, calm, lock.WithNodeTimeout(within))}}, apart{here{r.client(t, calm, lock.WithNodeTimeout(within))}}}
	var calls []*call
	for i := range waiters {
		calls = append(calls, parties[i%2].lock(r, fmt.Sprint("waiter ", i)))
	}
	redistest.Eventually(t, within, func() bool { return r.waiting() == waiters }, "%d wait", waiters)
	scripts, all := r.executed(t)
	require.NoError(t, lease.Unlock(bg))
	r.serve(t, calls...)
	scriptsAfter, allAfter := r.executed(t)
	per := float64(waiters * len(r.servers))
	looks := float64(time.Since(began) / (30 * time.Second))
	spent := cost{float64(scriptsAfter-scripts) / per, float64(allAfter-all) / per, looks}
	t.Logf("%4d waiters, %d nodes: %.2f scripts, %.1f commands in all, per hand-over and node", waiters, len(r.servers), spent.scripts, spent.all)
	return spent
}

// executed counts what all servers have executed: scripts, and commands, those of scripts included.
func (r *rig) executed(t *testing.T) (scripts, all int) {
	t.Helper()
	for _, eye := range r.eyes {
		var info string
		redistest.Eventually(t, within, func() bool { // an eye has little patience
			var err error
			info, err = eye.(*redis.Client).Info(bg, "commandstats").Result()
			return err == nil
		}, "the server tells what it has executed")
		for line := range strings.Lines(info) {
			name, rest, found := strings.Cut(line, ":calls=")
			if !found {
				continue
			}
			calls, _, _ := strings.Cut(rest, ",")
			n, err := strconv.Atoi(calls)
			require.NoError(t, err)
			all += n
			if name == "cmdstat_evalsha" {
				scripts += n
			}
		}
	}
	return scripts, all
}

// sent counts the matching commands that have gone through proxies.
func sent(proxies []*redistest.Proxy, match func([]string) bool) int {
	n := 0
	for _, p := range proxies {
		n += p.Commands(match)
	}
	return n
}

package reentrant_test

import (
	"errors"
	"fmt"
	"slices"
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

const (
	// within bounds what should happen soon. Generous: the machine may be busy, and a
	// server that was stopped has much to catch up with.
	within = time.Minute
	// patience is how long a node may be silent, unless a test says otherwise: on a busy
	// machine the default is soon over.
	patience = 3 * time.Second
)

// scripts by what they do, so that a fault can be aimed at one.
var (
	acquireCall = script(lua.Acquire{})
	releaseCall = script(lua.Release{})
	extendCall  = script(lua.Extend{})
	repairCall  = script(lua.Repair{})
)

func script(c interface{ Call() lua.Call }) func([]string) bool {
	return redistest.Script(c.Call().Script().SHA)
}

// A rig is a lock client over real servers, with a proxy before each.
type rig struct {
	servers []*redistest.Server
	proxies []*redistest.Proxy
	locks   *lock.Client
	users   []func(*redis.Options) // who the clients are, if not the default user
	name    string                 // of the mutex that a test is about
}

// newRig starts n servers that know the scripts already, so that each call is one
// EVALSHA.
func newRig(t *testing.T, n int, opts ...lock.ClientOption) *rig {
	t.Helper()
	r := &rig{servers: redistest.StartN(t, n), name: "orders"}
	for _, s := range r.servers {
		r.proxies = append(r.proxies, redistest.NewProxy(t, s.Addr()))
		loadScripts(t, s)
	}
	r.locks = r.client(t, opts...)
	return r
}

func loadScripts(t *testing.T, s *redistest.Server) {
	t.Helper()
	c := s.Client(t)
	for _, call := range []interface{ Call() lua.Call }{
		lua.Acquire{}, lua.Release{}, lua.Extend{}, lua.Fence{}, lua.Repair{}, lua.Inspect{}, lua.Force{}, lua.Forced{}, lua.Probe{},
	} {
		require.NoError(t, c.ScriptLoad(bg, call.Call().Script().Source).Err())
	}
	require.NoError(t, c.Close())
}

// client is another process's lock client, through the proxies, on Redis clients as
// users have them: retries on, a read timeout of seconds, contexts not honoured.
func (r *rig) client(t *testing.T, opts ...lock.ClientOption) *lock.Client {
	t.Helper()
	nodes := make([]redis.UniversalClient, len(r.proxies))
	for i, p := range r.proxies {
		nodes[i] = p.Client(t, r.users...)
	}
	return newClient(t, nodes, opts...)
}

// countingRig starts n servers to which each call is a command of its own.
func countingRig(t *testing.T, n int) *rig {
	t.Helper()
	r := newRig(t, n)
	r.users = append(r.users, redistest.WithoutInfo(t, r.servers))
	r.locks = r.client(t)
	return r
}

// newClient makes a client that is patient unless opts say otherwise.
func newClient(t *testing.T, nodes []redis.UniversalClient, opts ...lock.ClientOption) *lock.Client {
	t.Helper()
	c, err := lock.NewClient(nodes, append([]lock.ClientOption{lock.WithNodeTimeout(patience)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // its error is for tests that are about Close
	return c
}

func (r *rig) mutex(opts ...lock.Option) *reentrant.Mutex {
	return reentrant.New(r.locks, r.name, opts...)
}

// try is a TryLock that the nodes have answered: on a busy machine that may take them longer
// than it waits for them, which says nothing of the lock.
func try(t testing.TB, m *reentrant.Mutex) (lease *lock.Lease, err error) {
	t.Helper()
	redistest.Eventually(t, within, func() bool {
		lease, err = m.TryLock(bg)
		return !errors.Is(err, lock.ErrNoQuorum)
	}, "the nodes answer a TryLock")
	return lease, err
}

func (r *rig) keys() lua.Keys {
	k, err := lua.NewKeys("lock", r.name)
	if err != nil {
		panic(err)
	}
	return k
}

// quorum is how many nodes decide.
func (r *rig) quorum() int { return len(r.servers)/2 + 1 }

// counts is the hold count of id on each node; 0 where it is not.
func (r *rig) counts(t *testing.T, id string) []int {
	t.Helper()
	counts := make([]int, len(r.servers))
	for i, s := range r.servers {
		c := s.Client(t)
		if v, err := c.HGet(bg, r.keys().Lock, id).Result(); err == nil {
			counts[i], err = strconv.Atoi(v)
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, redis.Nil)
		}
		require.NoError(t, c.Close())
	}
	return counts
}

// requireCount waits until every node has the count. A node whose reply was lost
// may be behind the others' decision.
func (r *rig) requireCount(t *testing.T, id string, count int) {
	t.Helper()
	want := slices.Repeat([]int{count}, len(r.servers))
	var got []int
	redistest.Eventually(t, within, func() bool {
		got = r.counts(t, id)
		return slices.Equal(got, want)
	}, "every node counts %d, last seen: %v", count, &got)
}

// requireClean waits until nothing is under way and nothing is left on any node
// but what expires by itself and stops nobody: counters and void marks (I5).
func (r *rig) requireClean(t *testing.T) {
	t.Helper()
	for i := range r.servers {
		var why string
		redistest.Eventually(t, within, func() bool {
			why = r.dirt(t, i)
			return why == ""
		}, "node %d is clean: %s", i, stringer(func() string { return why }))
	}
}

// dirt tells what is left on node i, or still on its way there.
func (r *rig) dirt(t *testing.T, i int) string {
	t.Helper()
	sent := r.proxies[i].Commands(redistest.Command("EVALSHA"))
	if done := executed(t, r.servers[i]); done < sent {
		return fmt.Sprintf("%d of %d scripts have run", done, sent)
	}
	c := r.servers[i].Client(t)
	defer c.Close()
	for _, key := range r.servers[i].Keys(t) {
		ttl := c.PTTL(bg, key).Val()
		switch {
		case strings.HasSuffix(key, ":token") && ttl > 0:
		case strings.HasSuffix(key, ":void") && ttl > 0 && ttl <= 3*time.Minute:
		case ttl == -2: // it has expired since
		default:
			return fmt.Sprintf("%s with a TTL of %v", key, ttl)
		}
	}
	return ""
}

// executed is how many EVALSHA the server has run since its start.
func executed(t *testing.T, s *redistest.Server) int {
	t.Helper()
	calls, _, _ := strings.Cut(strings.TrimPrefix(s.Info(t, "commandstats", "cmdstat_evalsha"), "calls="), ",")
	n, _ := strconv.Atoi(calls)
	return n
}

type stringer func() string

func (s stringer) String() string { return s() }

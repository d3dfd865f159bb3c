package fair_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

const (
	// within bounds what should happen soon. Generous: the machine may be busy.
	within = time.Minute
	// promptly is far below the heartbeat of calm: what takes no longer did not have to
	// wait for it.
	promptly = 10 * time.Second
	// patience is how long a node may be silent, unless a test is about that: on a busy
	// machine the default is soon over.
	patience = 3 * time.Second
)

var patient = lock.WithNodeTimeout(patience)

// calm keeps heartbeats out of a test that is not about them: a waiter of a busy machine
// is not taken for dead, and nothing but what the test does moves the queue.
var calm = lock.WithWaiterHeartbeat(time.Minute)

// scripts by what they do, so that a fault can be aimed at one, and counts can tell them apart.
var (
	askCall    = script(lua.FairAcquire{})
	yieldCall  = script(lua.FairYield{})
	allScripts = []interface{ Call() lua.Call }{
		lua.FairAcquire{}, lua.FairRelease{}, lua.FairYield{}, lua.FairSettle{}, lua.FairBeat{},
		lua.Acquire{}, lua.Release{}, lua.Extend{}, lua.Fence{}, lua.Repair{}, lua.Inspect{}, lua.Force{}, lua.Forced{}, lua.Probe{},
	}
)

func script(c interface{ Call() lua.Call }) func([]string) bool {
	return redistest.Script(c.Call().Script().SHA)
}

// A rig is the nodes of one fair lock, and the log of who waited for it.
type rig struct {
	servers []*redistest.Server
	cluster *redistest.Cluster      // nil: the servers are independent nodes
	eyes    []redis.UniversalClient // to look at the nodes, past every proxy
	users   []func(*redis.Options)  // who the clients are, if not the default user
	name    string                  // of the mutex that a test is about
	order   fifo.Recorder
	inside  atomic.Int64
}

// newRig starts n servers that know the scripts already, so that each call is one EVALSHA.
func newRig(t *testing.T, n int, args ...string) *rig {
	t.Helper()
	return rigOf(t, redistest.StartN(t, n, args...))
}

func rigOf(t *testing.T, servers []*redistest.Server) *rig {
	t.Helper()
	r := &rig{servers: servers, name: "orders"}
	for _, s := range servers {
		loader := s.Client(t)
		for _, script := range allScripts {
			require.NoError(t, loader.ScriptLoad(bg, script.Call().Script().Source).Err())
		}
		// Whoever looks must not wait for a node that is stopped.
		r.eyes = append(r.eyes, s.Client(t, func(o *redis.Options) {
			o.ReadTimeout, o.DialTimeout, o.MaxRetries, o.DialerRetries = 200*time.Millisecond, 200*time.Millisecond, -1, 1
		}))
	}
	return r
}

// clusterRig starts a Cluster, which is one node.
func clusterRig(t *testing.T) *rig {
	t.Helper()
	c := redistest.StartCluster(t)
	return &rig{servers: c.Servers, cluster: c, eyes: []redis.UniversalClient{c.Client(t)}, name: "orders"}
}

// everywhere runs a test on the deployments that order is promised for.
func everywhere(t *testing.T, test func(t *testing.T, r *rig)) {
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			t.Parallel()
			test(t, newRig(t, n))
		})
	}
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		test(t, clusterRig(t))
	})
}

// client is another process's lock client, on Redis clients as users have them.
func (r *rig) client(t *testing.T, opts ...lock.ClientOption) *lock.Client {
	t.Helper()
	if r.cluster != nil {
		return newClient(t, []redis.UniversalClient{r.cluster.Client(t)}, opts...)
	}
	return newClient(t, redistest.Clients(t, r.servers, r.users...), opts...)
}

// proxied is another process's lock client, with a proxy before each node.
func (r *rig) proxied(t *testing.T, opts ...lock.ClientOption) (*lock.Client, []*redistest.Proxy) {
	t.Helper()
	var proxies []*redistest.Proxy
	var nodes []redis.UniversalClient
	for _, s := range r.servers {
		p := redistest.NewProxy(t, s.Addr())
		proxies, nodes = append(proxies, p), append(nodes, p.Client(t))
	}
	return newClient(t, nodes, opts...), proxies
}

// newClient makes a client that is patient unless opts say otherwise.
func newClient(t *testing.T, nodes []redis.UniversalClient, opts ...lock.ClientOption) *lock.Client {
	t.Helper()
	c, err := lock.NewClient(nodes, append([]lock.ClientOption{patient}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // its error is for tests that are about Close
	return c
}

func (r *rig) mutex(c *lock.Client, opts ...lock.Option) *fair.Mutex {
	return fair.New(c, r.name, opts...)
}

func (r *rig) keys() lua.Keys {
	k, err := lua.NewKeys("lock", r.name)
	if err != nil {
		panic(err)
	}
	return k
}

func (r *rig) quorum() int { return len(r.eyes)/2 + 1 }

// hold has a process of its own hold the lock, so that all others have to wait.
func (r *rig) hold(t *testing.T, opts ...lock.ClientOption) *lock.Lease {
	t.Helper()
	lease, err := r.mutex(r.client(t, opts...)).Lock(bg)
	require.NoError(t, err)
	return lease
}

// settled tells who has a place, in order.
func (r *rig) settled() []string {
	return fifo.Settled(fifo.Look(bg, r.keys(), r.eyes), r.quorum())
}

// waiting is how many stand in the queues of all nodes, the place of each fixed or not.
func (r *rig) waiting() int {
	n := math.MaxInt
	for _, queue := range fifo.Look(bg, r.keys(), r.eyes) {
		n = min(n, len(queue))
	}
	return n
}

// watch notes who has a place, until the test ends.
func (r *rig) watch(t *testing.T) {
	ctx, stop := context.WithCancel(bg)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.order.Watch(ctx, r.keys(), r.eyes, 10*time.Millisecond)
	}()
	t.Cleanup(func() { stop(); <-stopped })
}

// requireOrder holds the log against the promise (I7).
func (r *rig) requireOrder(t *testing.T) {
	t.Helper()
	for _, i := range fifo.Inversions(r.order.Waiters()) {
		t.Errorf("out of order: %v", i)
	}
}

// requireDrained waits until nothing is left on any node that can be reached, but what
// expires by itself and stops nobody: counters and void marks (I5).
func (r *rig) requireDrained(t *testing.T) {
	t.Helper()
	for i, s := range r.servers {
		var left []string
		redistest.Eventually(t, within, func() bool {
			left = nil
			for _, key := range s.Keys(t) {
				if !strings.HasSuffix(key, ":token") && !strings.HasSuffix(key, ":void") {
					left = append(left, key)
				}
			}
			return len(left) == 0
		}, "node %d is clean, last seen: %v", i, &left)
		c := s.Client(t)
		for _, key := range s.Keys(t) {
			ttl := c.PTTL(bg, key).Val()
			require.NotEqual(t, time.Duration(-1), ttl, "%s stays for ever", key)
			if strings.HasSuffix(key, ":void") {
				require.LessOrEqual(t, ttl, 3*time.Minute)
			}
		}
		require.NoError(t, c.Close())
	}
}

package multi_test

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
)

const (
	// within bounds what should happen soon. Generous: the machine may be busy.
	within = time.Minute
	// patience is how long a node may be silent: on a busy machine the default is soon over.
	patience = 3 * time.Second
)

var acquireCall = redistest.Script(lua.Acquire{}.Call().Script().SHA)

// A rig is real servers, with a proxy before each.
type rig struct {
	servers []*redistest.Server
	proxies []*redistest.Proxy
	users   []func(*redis.Options) // who the clients are, if not the default user
}

// newRig starts n servers that know the scripts already, so that each call is one EVALSHA.
func newRig(t *testing.T, n int) *rig {
	t.Helper()
	r := &rig{servers: redistest.StartN(t, n)}
	for _, s := range r.servers {
		r.proxies = append(r.proxies, redistest.NewProxy(t, s.Addr()))
		c := s.Client(t)
		for _, call := range []interface{ Call() lua.Call }{
			lua.Acquire{}, lua.Release{}, lua.Extend{}, lua.Fence{}, lua.Reserve{}, lua.Repair{}, lua.Probe{},
			lua.FairAcquire{}, lua.FairRelease{}, lua.FairYield{}, lua.FairSettle{}, lua.FairBeat{},
		} {
			require.NoError(t, c.ScriptLoad(bg, call.Call().Script().Source).Err())
		}
		require.NoError(t, c.Close())
	}
	return r
}

// countingRig is newRig with servers to which each call is a command of its own.
func countingRig(t *testing.T, n int) *rig {
	t.Helper()
	r := newRig(t, n)
	r.users = append(r.users, redistest.WithoutInfo(t, r.servers))
	return r
}

// client is another process's lock client, through the proxies.
func (r *rig) client(t *testing.T) *lock.Client {
	t.Helper()
	nodes := make([]redis.UniversalClient, len(r.proxies))
	for i, p := range r.proxies {
		nodes[i] = p.Client(t, r.users...)
	}
	c, err := lock.NewClient(nodes, lock.WithNodeTimeout(patience))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// requireClean waits until nothing is under way and nothing is left on any node but what
// expires by itself and stops nobody: counters and void marks (I5).
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
	calls, _, _ := strings.Cut(strings.TrimPrefix(r.servers[i].Info(t, "commandstats", "cmdstat_evalsha"), "calls="), ",")
	if done, _ := strconv.Atoi(calls); done < sent {
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

type stringer func() string

func (s stringer) String() string { return s() }

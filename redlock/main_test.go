package redlock_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

const (
	// timeout of a node in tests that are about silent ones, the default of package lock.
	timeout = 200 * time.Millisecond
	// patience is the node timeout of all others: a busy machine does not exceed it, and
	// as no node is silent nobody waits for it.
	patience = 10 * time.Second
	// within bounds what should happen soon, on a busy machine.
	within = time.Minute
)

var (
	bg      = context.Background()
	scripts = redistest.Command("EVALSHA", "EVAL")
)

func TestMain(m *testing.M) { redistest.Main(m, redistest.IgnoreRedials()) }

// newGroup makes a group that is closed when t ends. It has met nobody yet.
func newGroup(t testing.TB, nodes ...redis.UniversalClient) *redlock.Group {
	t.Helper()
	return groupOf(t, patience, nodes)
}

func groupOf(t testing.TB, timeout time.Duration, nodes []redis.UniversalClient) *redlock.Group {
	t.Helper()
	g, err := redlock.New(nodes, redlock.Config{NodeTimeout: timeout, DriftFactor: 0.01, DriftFixed: 2 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

func met(t testing.TB, nodes ...redis.UniversalClient) *redlock.Group {
	t.Helper()
	g := newGroup(t, nodes...)
	require.NoError(t, g.Handshake(bg))
	return g
}

// hasty makes a group to which a node counts as silent after timeout. On a busy machine
// any node may be, so what needs answers must not use it, unless time is virtual.
func hasty(t testing.TB, timeout time.Duration, nodes ...redis.UniversalClient) *redlock.Group {
	t.Helper()
	g := groupOf(t, timeout, nodes)
	redistest.Eventually(t, within, func() bool { return g.Handshake(bg) == nil }, "the nodes are met")
	return g
}

// proxied starts n servers that know all scripts, and a proxy and a default client for each.
func proxied(t testing.TB, n int) ([]*redistest.Server, []*redistest.Proxy, []redis.UniversalClient) {
	t.Helper()
	servers := redistest.StartN(t, n)
	proxies := make([]*redistest.Proxy, n)
	clients := make([]redis.UniversalClient, n)
	for i, s := range servers {
		proxies[i] = redistest.NewProxy(t, s.Addr())
		clients[i] = proxies[i].Client(t)
		c := s.Client(t)
		for _, call := range []interface{ Call() lua.Call }{lua.Acquire{}, lua.Release{}, lua.Probe{}} {
			require.NoError(t, c.ScriptLoad(bg, call.Call().Script().Source).Err())
		}
	}
	return servers, proxies, clients
}

// probe asks for nothing but an answer.
func probe() redlock.Motion {
	return redlock.Motion{Name: "probe", Call: lua.Probe{}.Call(), Yes: func(any) (bool, error) { return true, nil }}
}

// a hold, as package lock would have it.
type hold struct {
	keys      lua.Keys
	id        string
	ttl       time.Duration
	footprint *redlock.Footprint
}

var holds atomic.Int64

func newHold(t testing.TB, g *redlock.Group, name string) *hold {
	t.Helper()
	keys, err := lua.NewKeys("lock", name)
	require.NoError(t, err)
	return &hold{keys: keys, id: fmt.Sprint("hold:", holds.Add(1)), ttl: 30 * time.Minute, footprint: g.NewFootprint()}
}

func (h *hold) acquire() redlock.Motion {
	return redlock.Motion{
		Name: "acquire",
		Call: lua.Acquire{Keys: h.keys, Hold: h.id, TTL: h.ttl, Retention: time.Hour}.Call(),
		Yes: func(reply any) (bool, error) {
			a, err := lua.ParseAcquired(reply)
			return a.Token > 0, err
		},
		Creates:   true,
		Footprint: h.footprint,
	}
}

func (h *hold) release() redlock.Motion {
	h.footprint.Close()
	r := lua.Release{Keys: h.keys, Hold: h.id}
	marked := r
	marked.Mark = 10 * time.Second
	return redlock.Motion{
		Name: "release",
		Call: r.Call(),
		Removal: func(mark, _ bool) lua.Call {
			if mark {
				return marked.Call()
			}
			return r.Call()
		},
		Yes: func(reply any) (bool, error) {
			_, err := lua.ParseReleased(reply)
			return err == nil, err
		},
		Removes:   true,
		Footprint: h.footprint,
		Until:     time.Now().Add(h.ttl),
	}
}

// on tells whether the server has the hold.
func (h *hold) on(t testing.TB, s *redistest.Server) bool {
	t.Helper()
	c := s.Client(t)
	defer c.Close()
	found, err := c.HExists(bg, h.keys.Lock, h.id).Result()
	require.NoError(t, err)
	return found
}

func decide(t testing.TB, g *redlock.Group, m redlock.Motion) *redlock.Ballot {
	t.Helper()
	b, err := g.Decide(bg, m)
	require.NoError(t, err)
	return b
}

func acquireCall(cmd []string) bool { return redistest.Script(lua.Acquire{}.Call().Script().SHA)(cmd) }
func releaseCall(cmd []string) bool { return redistest.Script(lua.Release{}.Call().Script().SHA)(cmd) }

// runners counts the goroutines that groups have started.
func runners() int {
	stacks := make([]byte, 1<<20)
	for n := runtime.Stack(stacks, true); ; n = runtime.Stack(stacks, true) {
		if n < len(stacks) {
			return bytes.Count(stacks[:n], []byte("created by github.com/holdfast-go/holdfast/redlock."))
		}
		stacks = make([]byte, 2*len(stacks))
	}
}

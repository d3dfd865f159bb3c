package redlock_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// samples is how many names a group here asks about.
const samples = 16

// batchCall matches batches that are sent by their hash.
func batchCall(cmd []string) bool {
	return redistest.Script(lua.Batch(nil).Script().SHA)(cmd)
}

// batching makes a group that may send batches, and has met its nodes.
func batching(t testing.TB, nodes ...redis.UniversalClient) *redlock.Group {
	t.Helper()
	return batchingWithin(t, patience, nodes...)
}

func batchingWithin(t testing.TB, timeout time.Duration, nodes ...redis.UniversalClient) *redlock.Group {
	t.Helper()
	g := sampling(t, timeout, nodes...)
	require.NoError(t, g.Handshake(bg))
	return g
}

// sampling makes a group that has samples. It has met nobody yet.
func sampling(t testing.TB, timeout time.Duration, nodes ...redis.UniversalClient) *redlock.Group {
	t.Helper()
	config := redlock.Config{NodeTimeout: timeout, DriftFactor: 0.01, DriftFixed: 2 * time.Millisecond}
	for i := range samples {
		keys, err := lua.NewKeys("lock", fmt.Sprint("sample-", i))
		require.NoError(t, err)
		config.Samples = append(config.Samples, lua.Server{Keys: keys}.Call())
	}
	g, err := redlock.New(nodes, config)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

// together has one ballot for each motion leave in one flight, and waits for all answers.
// No runner is at work meanwhile that would take a part of them along.
func together(t testing.TB, g *redlock.Group, motions ...redlock.Motion) []*redlock.Ballot {
	t.Helper()
	redistest.Eventually(t, within, g.Idle, "nothing is under way")
	ballots := make([]*redlock.Ballot, len(motions))
	for i := range motions {
		m := motions[i]
		m.All, m.Patience = true, within
		ballots[i] = g.Draft(m)
		ballots[i].Prepare()
	}
	ballots[0].Send(bg)
	for _, b := range ballots {
		require.NoError(t, b.Wait(bg))
	}
	return ballots
}

// crowd makes n holds, of a name each, and the motions that take them.
func crowd(t testing.TB, g *redlock.Group, n int, name string) (holds []*hold, acquires []redlock.Motion) {
	t.Helper()
	for i := range n {
		h := newHold(t, g, fmt.Sprint(name, i))
		holds, acquires = append(holds, h), append(acquires, h.acquire())
	}
	return holds, acquires
}

func releases(holds []*hold) (motions []redlock.Motion) {
	for _, h := range holds {
		motions = append(motions, h.release())
	}
	return motions
}

func requireWon(t testing.TB, ballots []*redlock.Ballot) {
	t.Helper()
	for _, b := range ballots {
		require.True(t, b.Won(), b.Err())
	}
}

// question matches what a node is asked before the first batch, the last of all.
func question(cmd []string) bool {
	return len(cmd) > 1 && cmd[0] == "EVAL" && cmd[1] == lua.Batch(nil).Script().Source && cmd[2] == strconv.Itoa(samples)
}

// learned has g learn that batches work.
func learned(t testing.TB, g *redlock.Group, proxies ...*redistest.Proxy) {
	t.Helper()
	for _, p := range proxies {
		redistest.Eventually(t, within, func() bool {
			_, acquires := crowd(t, g, 4, fmt.Sprint("name before ", holds.Load(), " "))
			requireWon(t, together(t, g, acquires...))
			return p.Commands(batchCall) > 0
		}, "the first batch")
	}
}

// oneLearned is a group of one node that has learned that batches work.
func oneLearned(t testing.TB) (*redistest.Server, *redistest.Proxy, *redlock.Group) {
	t.Helper()
	return oneLearnedWithin(t, patience)
}

func oneLearnedWithin(t testing.TB, timeout time.Duration) (*redistest.Server, *redistest.Proxy, *redlock.Group) {
	t.Helper()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	g := batchingWithin(t, timeout, p.Client(t))
	learned(t, g, p)
	return s, p, g
}

// What leaves together is one command, once the node was seen to be one server.
func TestACrowdIsABatch(t *testing.T) {
	t.Parallel()
	servers, proxies, clients := proxied(t, 3)
	g := batching(t, clients...)
	learned(t, g, proxies...)
	acquired, batched := make([]int, 3), make([]int, 3)
	for i, p := range proxies {
		require.GreaterOrEqual(t, p.Commands(acquireCall), 4, "one by one, until the server is known")
		require.Equal(t, 1, p.Commands(question))
		acquired[i], batched[i] = p.Commands(acquireCall), p.Commands(batchCall)
	}
	holds, acquires := crowd(t, g, 100, "name ")
	requireWon(t, together(t, g, acquires...))
	for _, s := range servers {
		for _, h := range holds {
			require.True(t, h.on(t, s))
		}
	}
	requireWon(t, together(t, g, releases(holds)...))
	_, acquires = crowd(t, g, 3, "few ")
	requireWon(t, together(t, g, acquires...))
	for i, p := range proxies {
		require.Zero(t, p.Commands(releaseCall))
		require.Equal(t, 4, p.Commands(batchCall)-batched[i], "64 and 36, twice")
		require.Equal(t, 3, p.Commands(acquireCall)-acquired[i], "three are no crowd")
		for _, h := range holds {
			require.False(t, h.on(t, servers[i]))
		}
	}
}

// What comes with an answer of its own for each call is an answer to each ballot.
func TestABatchAnswersEachBallot(t *testing.T) {
	t.Parallel()
	s, _, g := oneLearned(t)
	holds, acquires := crowd(t, g, 10, "name ")
	requireWon(t, together(t, g, acquires...))
	_, others := crowd(t, g, 20, "name ") // the first ten are taken
	require.NoError(t, s.Client(t).Set(bg, newHold(t, g, "name 15").keys.Lock, "odd", 0).Err())
	for i, b := range together(t, g, others...) {
		a, err := lua.ParseAcquired(b.Answer(0).Reply)
		switch {
		case i < 10:
			require.NoError(t, err)
			require.Equal(t, holds[i].id, a.Holder)
			require.False(t, b.Won())
		case i == 15:
			require.ErrorContains(t, b.Answer(0).Err, "WRONGTYPE")
			require.False(t, b.Won())
		default:
			require.NoError(t, err)
			require.Positive(t, a.Token)
			require.True(t, b.Won(), b.Err())
		}
	}
}

// A name that this user may not touch fails its own ballot and no other's.
func TestAForbiddenNameFailsAlone(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	require.NoError(t, s.Client(t).Do(bg, "acl", "setuser", "locker", "on", ">secret", "~lock:{name*", "~lock:{sample*", "+@all").Err())
	p := redistest.NewProxy(t, s.Addr())
	g := batching(t, p.Client(t, func(o *redis.Options) { o.Username, o.Password = "locker", "secret" }))
	learned(t, g, p)
	before := p.Commands(batchCall)
	_, acquires := crowd(t, g, 10, "name ")
	_, forbidden := crowd(t, g, 1, "forbidden ")
	ballots := together(t, g, append(acquires, forbidden...)...)
	requireWon(t, ballots[:10])
	require.Equal(t, 1, p.Commands(batchCall)-before, "it was a batch")
	require.ErrorContains(t, ballots[10].Answer(0).Err, "NOPERM")
}

// A server without memory refuses a batch, and must not refuse the releases with it.
func TestAFullServerReleasesOneByOne(t *testing.T) {
	t.Parallel()
	s, p, g := oneLearned(t)
	held, acquires := crowd(t, g, 10, "name ")
	requireWon(t, together(t, g, acquires...))
	fill(t, s)
	_, refused := crowd(t, g, 10, "other name ")
	ballots := together(t, g, append(releases(held), refused...)...)
	require.Equal(t, 10, p.Commands(releaseCall))
	requireWon(t, ballots[:10])
	for _, b := range ballots[10:] {
		require.ErrorContains(t, b.Answer(0).Err, "OOM")
	}
	for _, h := range held {
		require.False(t, h.on(t, s))
	}
}

// fill leaves a server without memory.
func fill(t testing.TB, s *redistest.Server) {
	t.Helper()
	c := s.Client(t)
	require.NoError(t, c.Set(bg, "filler", strings.Repeat("x", 1<<20), 0).Err())
	require.NoError(t, c.ConfigSet(bg, "maxmemory", "1mb").Err())
}

// When the node timeout is over nobody waits for the calls of a refused batch, and a
// release is owed anyway.
func TestABatchThatIsRefusedLateIsNotSentOneByOne(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second // enough for a refusal and ten calls on a busy machine
	s, p, g := oneLearnedWithin(t, timeout)
	fill(t, s)
	for _, late := range []bool{false, true} {
		if late {
			p.SetDelay(timeout + timeout/2)
		}
		before := p.Commands(acquireCall)
		_, acquires := crowd(t, g, 10, "name ")
		for _, b := range together(t, g, acquires...) {
			require.ErrorContains(t, b.Answer(0).Err, "OOM")
		}
		alone := 10
		if late {
			alone = 0
		}
		require.Equal(t, alone, p.Commands(acquireCall)-before)
	}
}

// Who may not learn which server it is goes without batches.
func TestAServerThatTellsNothingOfItselfGetsNoBatch(t *testing.T) {
	t.Parallel()
	for _, right := range []string{"-info", "-exists"} {
		s := redistest.Start(t)
		require.NoError(t, s.Client(t).Do(bg, "acl", "setuser", "locker", "on", ">secret", "~*", "+@all", right).Err())
		p := redistest.NewProxy(t, s.Addr())
		g := batching(t, p.Client(t, func(o *redis.Options) { o.Username, o.Password = "locker", "secret" }))
		for range 3 {
			_, acquires := crowd(t, g, 10, fmt.Sprint("name ", holds.Load(), " "))
			for _, b := range together(t, g, acquires...) {
				require.Equal(t, right == "-info", b.Won(), b.Err())
			}
			answered(t, p)
		}
		require.Equal(t, 30, p.Commands(acquireCall))
		require.Zero(t, p.Commands(batchCall))
	}
}

// answered waits until a node was asked, and the answer is known.
func answered(t testing.TB, p *redistest.Proxy) {
	t.Helper()
	redistest.Eventually(t, within, func() bool { return p.Commands(question) > 0 }, "the node is asked")
	redistest.Eventually(t, within, func() bool {
		stacks := make([]byte, 1<<20)
		return !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("redlock.(*batching).ask"))
	}, "the answer is known")
}

// A server that has forgotten its scripts gets the batch by its source.
func TestABatchIsSentAgainToAServerThatForgotScripts(t *testing.T) {
	t.Parallel()
	s, p, g := oneLearned(t)
	alone, batched := p.Commands(acquireCall), p.Commands(batchCall)
	for range 2 {
		require.NoError(t, s.Client(t).ScriptFlush(bg).Err())
		holds, acquires := crowd(t, g, 10, "name ")
		requireWon(t, together(t, g, acquires...))
		requireWon(t, together(t, g, releases(holds)...))
	}
	require.Equal(t, 4, p.Commands(batchCall)-batched)
	require.Equal(t, alone, p.Commands(acquireCall))
}

// After a connection broke there may be another server behind the client: it is asked
// again, and so is one that did not answer.
func TestAServerIsAskedAgainAfterAConnectionBroke(t *testing.T) {
	t.Parallel()
	_, p, g := oneLearned(t)
	require.Equal(t, 1, p.Commands(question))
	p.DropReply(batchCall, 1)
	_, acquires := crowd(t, g, 10, "lost ")
	for _, b := range together(t, g, acquires...) {
		require.Error(t, b.Answer(0).Err)
	}
	p.DropReply(question, 1)
	batched := p.Commands(batchCall)
	_, acquires = crowd(t, g, 10, "name ")
	requireWon(t, together(t, g, acquires...))
	redistest.Eventually(t, within, func() bool { return p.Commands(question) == 2 }, "asked again")
	answered(t, p)
	_, acquires = crowd(t, g, 10, "other name ")
	requireWon(t, together(t, g, acquires...))
	require.Equal(t, batched, p.Commands(batchCall), "one by one, without an answer")
	require.Equal(t, 2, p.Commands(question), "and not all the time")
}

// The reply to a batch is the reply to each of its calls: what may have run is removed.
func TestALostBatchLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	servers, proxies, clients := proxied(t, 3)
	g := batchingWithin(t, 500*time.Millisecond, clients...)
	learned(t, g, proxies...)
	faults := []func(*redistest.Proxy){
		func(p *redistest.Proxy) { p.DropReply(batchCall, 1) },
		func(p *redistest.Proxy) { p.SwallowReply(batchCall, 1) },
		func(p *redistest.Proxy) { p.DropRequest(batchCall, 1) },
	}
	for i, p := range proxies {
		faults[i](p)
	}
	holds, acquires := crowd(t, g, 20, "lost ")
	for _, m := range acquires { // without waiting for all
		g.Draft(m).Prepare()
	}
	b := g.Vote(probe())
	require.NoError(t, b.Wait(bg))
	for _, m := range releases(holds) {
		b = g.Vote(m)
	}
	require.NoError(t, b.Wait(bg))
	for _, s := range servers {
		redistest.Eventually(t, within, func() bool {
			for _, h := range holds {
				if h.on(t, s) {
					return false
				}
			}
			return true
		}, "the holds are gone")
	}
	for _, p := range proxies {
		require.Positive(t, p.Commands(batchCall))
	}
}

// A batch that comes twice does what it does once.
func TestABatchMayComeTwice(t *testing.T) {
	t.Parallel()
	s, p, g := oneLearned(t)
	p.Duplicate(batchCall, 2)
	held, acquires := crowd(t, g, 20, "name ")
	ballots := together(t, g, acquires...)
	requireWon(t, ballots)
	for i, h := range held {
		a, err := lua.ParseAcquired(ballots[i].Answer(0).Reply)
		require.NoError(t, err)
		token, err := s.Client(t).Get(bg, h.keys.Token()).Int64()
		require.NoError(t, err)
		require.Equal(t, a.Token, token, "one token")
	}
	requireWon(t, together(t, g, releases(held)...))
	for _, h := range held {
		require.False(t, h.on(t, s))
	}
}

// A client may take for one server what is many. A batch would go where its first key
// lives, and take the other locks on a server that is not theirs.
func TestWhatSpreadsKeysOverServersGetsNoBatch(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 2)
	backends := redistest.Clients(t, servers)
	home := func(key string) int { return int(crc32.ChecksumIEEE([]byte(key))) % len(servers) }
	front := spread(t, func(args []string) redis.UniversalClient {
		if len(args) > 3 && strings.HasPrefix(args[0], "eval") && args[2] != "0" {
			name, _, _ := strings.Cut(args[3], "}")
			return backends[home(name)]
		}
		return backends[0]
	})
	p := redistest.NewProxy(t, front)
	g := batching(t, p.Client(t, func(o *redis.Options) { o.Protocol, o.DisableIdentity = 2, true }))
	for range 3 {
		holds, acquires := crowd(t, g, 50, "name ")
		requireWon(t, together(t, g, acquires...))
		answered(t, p)
		for _, h := range holds {
			name, _, _ := strings.Cut(h.keys.Lock, "}")
			require.True(t, h.on(t, servers[home(name)]), h.keys.Lock)
		}
		requireWon(t, together(t, g, releases(holds)...))
	}
	for _, s := range servers {
		require.Empty(t, keysButMarks(t, s), "nothing was left on another's server")
	}
}

// spread is the address of a proxy that sends each command where of says.
func spread(t testing.TB, of func(args []string) redis.UniversalClient) string {
	t.Helper()
	front, err := server.NewServer("127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(front.Close)
	for _, name := range []string{"evalsha", "eval", "info"} {
		require.NoError(t, front.Register(name, func(c *server.Peer, name string, args []string) {
			all := []any{name}
			for _, a := range args {
				all = append(all, a)
			}
			reply, err := of(append([]string{strings.ToLower(name)}, args...)).Do(bg, all...).Result()
			c.Block(func(w *server.Writer) { answer(w, reply, err) })
		}))
	}
	return front.Addr().String()
}

func answer(w *server.Writer, reply any, err error) {
	var refusal redis.Error
	switch r := reply.(type) {
	case error:
		w.WriteError(r.Error())
	case int64:
		w.WriteRaw(":" + strconv.FormatInt(r, 10) + "\r\n")
	case string:
		w.WriteBulk(r)
	case []any:
		w.WriteLen(len(r))
		for _, e := range r {
			answer(w, e, nil)
		}
	default:
		if errors.As(err, &refusal) {
			w.WriteError(refusal.Error())
		} else {
			w.WriteNull()
		}
	}
}

// So does a master of a Cluster that has come to a plain client's address.
func TestAMasterOfAClusterGetsNoBatch(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	one, master := redistest.Start(t).Client(t), cluster.Servers[0].Client(t)
	var came atomic.Bool
	front := spread(t, func([]string) redis.UniversalClient {
		if came.Load() {
			return master
		}
		return one
	})
	p := redistest.NewProxy(t, front)
	g := batching(t, p.Client(t, func(o *redis.Options) { o.Protocol, o.DisableIdentity = 2, true }))
	came.Store(true)
	for range 2 {
		_, acquires := crowd(t, g, 50, fmt.Sprint("name ", holds.Load(), " "))
		won := 0
		for _, b := range together(t, g, acquires...) {
			if b.Won() {
				won++
			} else {
				require.ErrorContains(t, b.Answer(0).Err, "MOVED")
			}
		}
		require.Positive(t, won, "those whose slot it has")
		answered(t, p)
	}
	require.Zero(t, p.Commands(batchCall))
}

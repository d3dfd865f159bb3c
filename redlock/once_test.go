package redlock_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/redlock"
)

// Clients with default options send a command again when its reply does not come: up
// to four times. None of ours.

func TestScriptWhoseReplyIsSwallowedReachesTheServerOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} { // the caller's own command, and a lane's
		_, proxies, clients := proxied(t, n)
		g := hasty(t, timeout, clients...)
		h := newHold(t, g, "orders")
		open := make([]int, n)
		for i, p := range proxies {
			open[i] = p.Connections()
			p.SwallowReply(acquireCall, 1)
		}
		require.False(t, decide(t, g, h.acquire()).Won())
		for i, p := range proxies {
			redistest.Eventually(t, within, func() bool { return p.Connections() < open[i] }, "the client has given up")
		}
		redistest.Eventually(t, within, func() bool { return decide(t, g, probe()).Won() }, "and goes on")
		for _, p := range proxies {
			require.Equal(t, 1, p.Commands(acquireCall))
		}
	}
}

func TestPipelineWhoseReplyIsLostReachesTheServerOnce(t *testing.T) {
	t.Parallel()
	patient := func(m redlock.Motion) redlock.Motion {
		m.All = true
		m.Patience = time.Minute // the client's read timeout is to strike
		return m
	}
	for _, fault := range []string{"dropped", "swallowed"} {
		_, proxies, clients := proxied(t, 3)
		g := hasty(t, timeout, clients...)
		// While the first ballot is away, a hundred gather for one pipeline.
		held := proxies[0].Hold(scripts, 1)
		first := g.Vote(patient(probe()))
		held.Wait(t)
		ballots := make([]*redlock.Ballot, 100)
		var last *hold
		for i := range ballots {
			last = newHold(t, g, fmt.Sprint("name ", i))
			ballots[i] = g.Vote(patient(last.acquire()))
		}
		match := func(cmd []string) bool { return acquireCall(cmd) && slices.Contains(cmd, last.id) }
		if fault == "dropped" {
			proxies[0].DropReply(match, 1)
		} else {
			proxies[0].SwallowReply(match, 1)
		}
		held.Release()
		require.NoError(t, first.Wait(bg))
		for _, b := range ballots {
			require.NoError(t, b.Wait(bg))
			require.True(t, b.Won())
		}
		require.Error(t, ballots[99].Answer(0).Err)
		require.Equal(t, 100, proxies[0].Commands(acquireCall), "each once, %s", fault)
	}
}

func TestClusterClientSendsAScriptOnce(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := redistest.NewProxy(t, s.Addr())
	// A Cluster client that is told of one node only: what matters are its retries.
	c := redis.NewClusterClient(&redis.ClusterOptions{
		ReadTimeout: time.Second, // 3 s by default, for each of four tries
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: p.Addr()}}}}, nil
		},
	})
	t.Cleanup(func() { _ = c.Close() })
	g := hasty(t, timeout, c)
	p.SwallowReply(scripts, 1)
	before := p.Commands(scripts)
	open := p.Connections()
	require.False(t, decide(t, g, probe()).Won())
	redistest.Eventually(t, within, func() bool { return p.Connections() < open }, "the client has given up")
	require.Equal(t, 1, p.Commands(scripts)-before)
}

func TestFlushedScriptsAreSentAgainInPipelinesToo(t *testing.T) {
	t.Parallel()
	servers, _, clients := proxied(t, 3)
	for _, n := range []int{1, 3} {
		g := met(t, clients[:n]...)
		var stop atomic.Bool
		var flushes, callers sync.WaitGroup
		for _, s := range servers[:n] {
			c := s.Client(t)
			flushes.Go(func() {
				for !stop.Load() {
					_ = c.ScriptFlush(bg).Err()
				}
			})
		}
		everywhere := func(m redlock.Motion) {
			m.All = true
			m.Patience = time.Minute // it is not about time
			b, err := g.Decide(bg, m)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range n {
				if a := b.Answer(i); a.Err != nil {
					t.Error(a.Err)
				}
			}
		}
		for w := range 32 {
			callers.Go(func() {
				for i := range 30 {
					h := newHold(t, g, fmt.Sprint(w, " ", i))
					everywhere(h.acquire())
					everywhere(h.release())
				}
			})
		}
		callers.Wait()
		stop.Store(true)
		flushes.Wait()
		for _, s := range servers {
			require.Empty(t, keysButMarks(t, s))
		}
		g.Close()
	}
}

package main

import (
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// tooLate is what the promise does not hold for: a process that does not run cannot send SIGKILL. The margin is 400 ms.
const tooLate = 200 * time.Millisecond

// watchMachine begins to measure by how much a goroutine runs late at the most. The result ends it.
func watchMachine() (lateness func() time.Duration) {
	const pause = 10 * time.Millisecond
	over, worst := make(chan struct{}), make(chan time.Duration)
	go func() {
		most := time.Duration(0)
		for {
			began := time.Now()
			select {
			case <-over:
				worst <- most
				return
			case <-time.After(pause):
				most = max(most, time.Since(began)-pause)
			}
		}
	}()
	return func() time.Duration {
		close(over)
		return <-worst
	}
}

// neverWithout fails if the command lived without its lock, unless the machine was too busy to tell anything.
func (s *stubborn) neverWithout(late time.Duration) {
	s.t.Helper()
	n := s.count("without")
	if n > 0 && late > tooLate {
		s.t.Skipf("processes did not run for %v: %d signs of life after the keys had expired tell nothing", late, n)
	}
	require.Zero(s.t, n, "signs of life after the keys had expired")
}

// The promise: where the lock cannot be renewed, no process of the group lives when the keys expire. The child counts
// its signs of life on the server, apart from those without a lock.
func TestCommandIsGoneBeforeTheKeysCanExpire(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	p := beginStubborn(t, server, redisURL(proxy.Addr()), "x", "--ttl", "4s", "--grace", "1s")
	pid := p.pid()
	lateness := watchMachine()
	proxy.Blackhole(true)

	require.Equal(t, exitLost, p.wait(), p.err.String())
	require.Contains(t, p.err.String(), `lock "x" was lost while the command ran, and the command was ended: the lock could not be renewed`)
	require.ErrorIs(t, syscall.Kill(-pid, 0), syscall.ESRCH)
	p.neverWithout(lateness())
	terms := p.terms(1)
	left, err := strconv.Atoi(terms[0])
	require.NoError(t, err)
	require.Positive(t, left, "SIGTERM came when the key was gone")
}

// With a quorum of three it is the same: one server that answers is too few.
func TestCommandIsGoneBeforeTheKeysExpireOnAQuorum(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	proxies := []*redistest.Proxy{redistest.NewProxy(t, servers[1].Addr()), redistest.NewProxy(t, servers[2].Addr())}
	urls := redisURL(servers[0].Addr()) + "," + redisURL(proxies[0].Addr()) + "," + redisURL(proxies[1].Addr())
	p := beginStubborn(t, servers[2], urls, "x", "--ttl", "4s")
	lateness := watchMachine()
	for _, proxy := range proxies {
		proxy.Blackhole(true)
	}
	require.Equal(t, exitLost, p.wait(), p.err.String())
	p.neverWithout(lateness())
}

// A server that is away for a moment ends no command.
func TestShortOutageEndsNoCommand(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	p := beginStubborn(t, server, redisURL(proxy.Addr()), "x", "--ttl", "10s")
	rdb := server.Client(t)
	renewed := func() bool { return rdb.PTTL(t.Context(), "lock:{x}").Val().Milliseconds() > 9500 }
	// Just before it is renewed.
	redistest.Eventually(t, longest, func() bool { return rdb.PTTL(t.Context(), "lock:{x}").Val() < 7*time.Second }, "the TTL stands still")
	proxy.Refuse(true)
	proxy.Reset()
	proxy.Refuse(false)
	redistest.Eventually(t, longest, renewed, "the lock was not renewed")
	require.Zero(t, rdb.LLen(t.Context(), "terms").Val())
	require.Zero(t, p.count("without"))
}

func TestForcedLockEndsTheCommand(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(t *testing.T, server *redistest.Server){
		"forced": func(t *testing.T, server *redistest.Server) {
			code, out, errs := run(t, redisURL(server.Addr()), "unlock", "--force", "--yes", "x")
			require.Zero(t, code, errs)
			require.Equal(t, "x: ended by force\n", out)
		},
		"gone": func(t *testing.T, server *redistest.Server) {
			require.NoError(t, server.Client(t).Del(t.Context(), "lock:{x}").Err())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			p := beginStubborn(t, server, redisURL(server.Addr()), "x", "--ttl", "2s", "--grace", "100ms", "--json")
			pid := p.pid()
			take(t, server)
			require.Len(t, p.terms(1), 1)
			require.Equal(t, exitLost, p.wait(), p.err.String())
			require.ErrorIs(t, syscall.Kill(-pid, 0), syscall.ESRCH)
			require.Contains(t, p.err.String(), `"event":"lost","name":"x","reason":"`+name+`"`)
		})
	}
}

// A holdfast that was stopped for longer than the TTL tells its command as soon as it goes on.
func TestCommandOfAPausedHoldfastIsToldAtOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := beginStubborn(t, server, redisURL(server.Addr()), "x", "--ttl", "2s", "--grace", "100ms")
	p.signal(syscall.SIGSTOP)
	redistest.Eventually(t, longest, func() bool { return p.count("without") > 0 }, "the lock does not expire")
	require.Zero(t, p.rdb.LLen(t.Context(), "terms").Val(), "holdfast is not paused")
	p.signal(syscall.SIGCONT)
	require.Len(t, p.terms(1), 1)
	require.Equal(t, exitLost, p.wait(), p.err.String())
	require.Contains(t, p.err.String(), `lock "x" was lost while the command ran`)
}

func TestMaxHoldEndsTheCommand(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	code, _, errs := run(t, redisURL(server.Addr()), "run", "--ttl", "2s", "--max-hold", "200ms", "x", "--", "sleep", "600")
	require.Equal(t, exitLost, code, errs)
	require.Contains(t, errs, "the lock was held for --max-hold")
}

package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// outlast has the lock's key stay on the server for much longer than holdfast believes, so that nothing but holdfast's own
// deadline ends the command. When that is, to the millisecond, TestGroupIsEndedBeforeTheDeadline holds, which no busy
// machine can disturb.
func (s *stubborn) outlast(key string) {
	s.t.Helper()
	require.True(s.t, s.rdb.PExpire(s.t.Context(), key, 10*longest).Val(), "%s is gone", key)
}

// endedIn requires that the command was ended, and by SIGKILL at the last, while its lock's key was there.
func (s *stubborn) endedIn(key string) {
	s.t.Helper()
	require.Zero(s.t, s.count("without"), "signs of life without the key")
	require.Equal(s.t, int64(1), s.rdb.Exists(s.t.Context(), key).Val(), "%s is gone", key)
}

// The promise: where the lock cannot be renewed, no process of the group lives when the keys expire, whether or not they
// do. The child counts its signs of life on the server, apart from those without a lock.
func TestCommandIsGoneBeforeTheKeysCanExpire(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr())
	p := beginStubborn(t, server, redisURL(proxy.Addr()), "x", "--ttl", "4s", "--grace", "1s")
	pid := p.pid()
	proxy.Blackhole(true)
	p.outlast("lock:{x}")

	require.Equal(t, exitLost, p.wait(), p.err.String())
	require.Contains(t, p.err.String(), `lock "x" was lost while the command ran, and the command was ended: the lock could not be renewed`)
	require.ErrorIs(t, syscall.Kill(-pid, 0), syscall.ESRCH)
	p.endedIn("lock:{x}")
	require.Len(t, p.terms(1), 1, "SIGTERM comes first")
}

// With a quorum of three it is the same: one server that answers is too few.
func TestCommandIsGoneBeforeTheKeysExpireOnAQuorum(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	proxies := []*redistest.Proxy{redistest.NewProxy(t, servers[1].Addr()), redistest.NewProxy(t, servers[2].Addr())}
	urls := redisURL(servers[0].Addr()) + "," + redisURL(proxies[0].Addr()) + "," + redisURL(proxies[1].Addr())
	p := beginStubborn(t, servers[2], urls, "x", "--ttl", "4s")
	for _, proxy := range proxies {
		proxy.Blackhole(true)
	}
	p.outlast("lock:{x}")
	require.Equal(t, exitLost, p.wait(), p.err.String())
	p.endedIn("lock:{x}")
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

// A command that ends by itself, but after its lock, has not had it to the end.
func TestLossThatOnlyTheReleaseFindsIsALoss(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	code, out, errs := run(t, url, "run", "x", "--", binary, "unlock", "--force", "--yes", "x")
	require.Equal(t, exitLost, code, errs)
	require.Equal(t, "x: ended by force\n", out)
	require.Contains(t, errs, `lock "x" was lost before the command had ended`)
}

// The command of a leader that ends by itself is not run again, though its term may have been over before.
func TestLossThatOnlyTheReleaseFindsIsNoReasonToLeadAgain(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	code, out, errs := run(t, url, "elect", "x", "--", binary, "unlock", "--force", "--yes", "x")
	require.Equal(t, exitLost, code, errs)
	require.Equal(t, "x: ended by force\n", out)
	require.Contains(t, errs, `lock "x": the leadership was lost before the command had ended`)
	require.NotContains(t, errs, "candidate again")
}

// A leader that was asked to end, and whose command goes on until the leadership is lost, is no candidate again.
func TestLeaderThatWasAskedToEndIsNoCandidateAgain(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	p := begin(t, command(t, url, "elect", "--ttl", "2s", "x", "-c", `trap "echo told" TERM; echo ready; while :; do sleep 0.02; done`))
	p.says("ready")
	p.signal(syscall.SIGTERM)
	p.says("told")
	code, _, errs := run(t, url, "unlock", "--force", "--yes", "x")
	require.Zero(t, code, errs)
	require.Equal(t, exitLost, p.wait(), p.err.String())
	require.NotContains(t, p.err.String(), "candidate again")
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

const sleeper = "echo ready; exec sleep 600"

// hold has a holdfast hold a lock.
func hold(t *testing.T, url string, args ...string) *process {
	t.Helper()
	p := begin(t, command(t, url, append(append([]string{"run"}, args...), "-c", sleeper)...))
	p.says("ready")
	return p
}

// decode reads a JSON document, and refuses fields that are not in v.
func decode(t *testing.T, text string, v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(v), text)
}

// status waits until the lock is as ok wants it: what people are told is written a moment after the grant.
func status(t *testing.T, url, name string, ok func(v lockView) bool) (v lockView) {
	t.Helper()
	redistest.Eventually(t, longest, func() bool {
		code, out, errs := run(t, url, "status", "--json", name)
		require.Zero(t, code, errs)
		v = lockView{}
		decode(t, out, &v)
		return ok(v)
	}, "the lock is not as it should be")
	return v
}

func labelled(v lockView) bool { return len(v.Holders) > 0 && v.Holders[0].Label != "" }

func TestStatusTellsOfEveryKind(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	begin(t, command(t, url, "run", "--label", "web-3", "--note", "nightly export", "mutex", "-c", sleeper)).says("ready")
	hold(t, url, "--shared", "rw")
	hold(t, url, "--permits", "2/5", "--label", "two", "sem")
	begin(t, command(t, url, "run", "--exclusive", "rw", "--", "true"))

	v := status(t, url, "mutex", labelled)
	require.Equal(t, "held", v.Status)
	require.Equal(t, "mutex", v.Kind)
	require.Equal(t, "web-3", v.Holders[0].Label)
	require.Equal(t, "nightly export", v.Holders[0].Note)
	require.Positive(t, v.Holders[0].TTLMs)
	require.Positive(t, v.Token)
	require.Equal(t, []string{v.Holders[0].ID}, v.Nodes[0].Holders)
	code, out, _ := run(t, url, "status", "mutex")
	require.Zero(t, code)
	require.Regexp(t, `^mutex: held \(mutex\)
  held by  web-3, for .*, note: nightly export, ends in .* unless renewed, `+regexp.QuoteMeta(v.Holders[0].ID)+`
  token    \d+
  node     `+regexp.QuoteMeta(server.Addr())+`: held, for another .*s
$`, out)

	v = status(t, url, "rw", func(v lockView) bool { return len(v.Waiters) == 1 })
	require.Equal(t, "read-write", v.Kind)
	require.Equal(t, "read", v.Holders[0].Access)
	require.Equal(t, "write", v.Waiters[0].Access)

	v = status(t, url, "sem", labelled)
	require.Equal(t, "semaphore", v.Kind)
	require.Equal(t, 5, v.Permits)
	require.Equal(t, []int{0, 1}, v.Holders[0].Slots)

	v = status(t, url, "nobody", func(lockView) bool { return true })
	require.Equal(t, "free", v.Status)
	require.Empty(t, v.Kind)

	code, out, _ = run(t, url, "list", "--json", "*e*")
	require.Zero(t, code)
	var names []string
	for _, line := range lines(out) {
		var v lockView
		decode(t, line, &v)
		names = append(names, v.Name+" "+v.Kind)
	}
	require.Equal(t, []string{"mutex mutex", "sem semaphore"}, names)
	code, out, _ = run(t, url, "list")
	require.Zero(t, code)
	list := lines(out)
	require.Len(t, list, 4)
	require.Regexp(t, `^NAME +STATUS +HOLDER +FOR +TTL +WAITERS +NOTE$`, list[0])
	require.Regexp(t, `^mutex +held +web-3 +\S+ +\S+ +0 +nightly export$`, list[1])
	require.Regexp(t, `^rw +held .* 1 +-$`, list[2])
	require.Regexp(t, `^sem +held +two `, list[3])
}

func TestNoQuorumIsToldByEveryCommand(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"status", "x"}, {"list"}, {"--restart-guard", "10s", "list"}, {"top"}, {"--json", "top"}, {"wait", "x"}, {"unlock", "--force", "--yes", "x"}, {"doctor"},
		{"run", "x", "--", "true"}, {"elect", "x", "--", "true"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			code, _, errs := run(t, "redis://127.0.0.1:1", args...)
			require.Equal(t, exitNoQuorum, code, errs)
		})
	}
}

// A pattern that cannot be is no list without locks.
func TestPatternThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	for _, args := range [][]string{{"list", "["}, {"list", "--json", "["}, {"top", "["}, {"top", "--json", "["}} {
		code, out, errs := run(t, url, args...)
		require.Equal(t, exitUsage, code, args)
		require.Empty(t, out)
		require.Contains(t, errs, "without its ]")
	}
}

func TestWaitEndsWhenTheLockIsFree(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	p := hold(t, url, "--label", "web-3", "x")
	status(t, url, "x", labelled)
	code, _, errs := run(t, url, "wait", "--timeout", "300ms", "x")
	require.Equal(t, exitConflict, code)
	require.Regexp(t, `lock "x" is still held after 300ms: held by web-3, for`, errs)
	code, _, errs = run(t, url, "wait", "--timeout", "1ns", "x")
	require.Equal(t, exitConflict, code)
	require.Contains(t, errs, `lock "x" is still held`)
	code, _, errs = run(t, url, "wait", "--timeout", "1ns", "free")
	require.Zero(t, code, errs)
	proxy := redistest.NewProxy(t, server.Addr())
	w := begin(t, command(t, redisURL(proxy.Addr()), "wait", "x"))
	asks := func(cmd []string) bool { return strings.Contains(strings.Join(cmd, " "), "lock:{x}") }
	redistest.Eventually(t, longest, func() bool { return proxy.Commands(asks) >= 5 }, "it does not look again and again")
	interrupted := begin(t, command(t, url, "wait", "x"))
	interrupted.signal(syscall.SIGTERM) // perhaps before it could catch it
	<-interrupted.over
	select {
	case <-w.over:
		t.Fatal("it has not waited")
	default:
	}
	p.signal(syscall.SIGTERM)
	require.Equal(t, 128+15, p.wait())
	require.Zero(t, w.wait())
	code, out, errs := run(t, url, "wait", "--json", "x")
	require.Zero(t, code, errs)
	var v lockView
	decode(t, out, &v)
	require.Equal(t, []string{"x", "free"}, []string{v.Name, v.Status})
}

// Servers that are silent take far longer to give up than the timeout allows.
func TestTimeoutOfWaitEndsTheConnecting(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	urls := []string{redisURL(servers[0].Addr())}
	for _, s := range servers[1:] {
		proxy := redistest.NewProxy(t, s.Addr())
		proxy.Blackhole(true)
		urls = append(urls, redisURL(proxy.Addr()))
	}
	code, out, errs := run(t, strings.Join(urls, ","), "--json", "wait", "--timeout", "500ms", "x")
	require.Equal(t, exitNoQuorum, code)
	require.Empty(t, out)
	require.Contains(t, errs, `too few servers answered within 2s to tell whether lock \"x\" is free`)
}

// A silent server delays the first look, which is then the last one: the timeout is over.
func TestTimeoutOfWaitIncludesTheConnecting(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	var direct, proxied []string
	var proxies []*redistest.Proxy
	for _, s := range servers {
		p := redistest.NewProxy(t, s.Addr())
		proxies = append(proxies, p)
		direct, proxied = append(direct, redisURL(s.Addr())), append(proxied, redisURL(p.Addr()))
	}
	hold(t, strings.Join(direct, ","), "x")
	proxies[2].Blackhole(true)
	code, _, errs := run(t, strings.Join(proxied, ","), "wait", "--timeout", "900ms", "x")
	require.Contains(t, []int{exitConflict, exitNoQuorum}, code, "a server that is slow for a moment is one too many\n"+errs)
	looks := proxies[0].Commands(func(cmd []string) bool { return strings.Contains(strings.Join(cmd, " "), "lock:{x}") })
	require.LessOrEqual(t, looks, 2, "one, which may be repeated with the text of the script")
}

func TestNameThatCannotBeIsAnInvalidCommandLine(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	for _, args := range [][]string{
		{"status", ""}, {"wait", ""}, {"unlock", "--force", "--yes", ""}, {"run", "", "--", "true"}, {"elect", "", "--", "true"},
	} {
		code, out, errs := run(t, url, args...)
		require.Equal(t, exitUsage, code, args)
		require.Empty(t, out)
		require.Contains(t, errs, "empty")
	}
}

func TestUnlockRefusesToGuess(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	p := hold(t, url, "--ttl", "2s", "x")
	code, _, errs := run(t, url, "unlock", "x")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "needs --force")
	code, _, errs = run(t, url, "unlock", "--force", "x") // without a terminal
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--yes")
	code, _, errs = run(t, url, "unlock", "--force", "--yes", "--hold", "", "x") // a variable that a script has not set
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--hold is empty")
	code, out, errs := run(t, url, "unlock", "--force", "--yes", "--json", "--hold", "somebody-else:1", "x")
	require.Zero(t, code, errs)
	require.JSONEq(t, `{"name":"x","ended":false,"holds":["somebody-else:1"]}`, out)
	require.Equal(t, int64(1), server.Client(t).Exists(t.Context(), "lock:{x}").Val())
	code, out, errs = run(t, url, "unlock", "--force", "--yes", "x")
	require.Zero(t, code, errs)
	require.Equal(t, "x: ended by force\n", out)
	require.Equal(t, exitLost, p.wait())
	code, out, _ = run(t, url, "unlock", "--force", "--yes", "x")
	require.Zero(t, code)
	require.Equal(t, "x: nobody had it\n", out)
}

// The id of a hold that lingers is the one that its holder had, wherever people see it.
func TestUnlockEndsAHoldThatLingersByTheIDThatIsShown(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	for name, kind := range map[string][]string{"x": nil, "rw": {"--shared"}, "sem": {"--permits", "2/3"}} {
		code, out, errs := run(t, url, slices.Concat([]string{"run", "--at-least", "1h"}, kind, []string{name, "-c", "echo $HOLDFAST_ID"})...)
		require.Zero(t, code, errs)
		id := strings.TrimSpace(out)
		code, out, _ = run(t, url, "unlock", "--force", "--yes", "--hold", "another:1", name)
		require.Zero(t, code)
		require.Equal(t, name+": nobody had it by hold another:1\n", out)
		code, out, errs = run(t, url, "unlock", "--force", "--yes", "--hold", id, name)
		require.Zero(t, code, errs)
		require.Equal(t, name+": ended by force\n", out)
	}
}

func TestUnlockEndsEveryKind(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	holders := []*process{
		hold(t, url, "--ttl", "2s", "--shared", "rw"), hold(t, url, "--ttl", "2s", "--shared", "rw"),
		hold(t, url, "--ttl", "2s", "--permits", "1/3", "sem"), hold(t, url, "--ttl", "2s", "--permits", "2/3", "sem"),
	}
	for _, name := range []string{"rw", "sem"} {
		code, out, errs := run(t, url, "unlock", "--force", "--yes", "--json", name)
		require.Zero(t, code, errs)
		var told struct {
			Name  string
			Ended bool
			Holds []string
		}
		decode(t, out, &told)
		require.True(t, told.Ended)
		require.Len(t, told.Holds, 2)
		v := status(t, url, name, func(lockView) bool { return true })
		require.Equal(t, "free", v.Status)
	}
	for _, p := range holders {
		require.Equal(t, exitLost, p.wait())
	}
}

func TestLeaderIsACandidateAgainAfterALoss(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	p := begin(t, command(t, url, "elect", "--ttl", "2s", "--candidate", "web-3", "x", "-c", "echo token $HOLDFAST_TOKEN; exec sleep 600"))
	p.says("token ")
	v := status(t, url, "x", labelled)
	require.Equal(t, "web-3", v.Holders[0].Note)
	code, _, errs := run(t, url, "unlock", "--force", "--yes", "x")
	require.Zero(t, code, errs)
	redistest.Eventually(t, longest, func() bool { return len(lines(p.out.String())) == 2 }, "it does not lead again")
	terms := lines(p.out.String())
	require.Greater(t, terms[1], terms[0])
	require.Contains(t, p.err.String(), "ForceUnlock")
	p.signal(syscall.SIGTERM)
	require.Equal(t, 128+15, p.wait())
	require.Zero(t, server.Client(t).Exists(t.Context(), "lock:{x}").Val())
}

func TestElectRefusesACommandLine(t *testing.T) {
	t.Parallel()
	for says, args := range map[string][]string{
		"--ttl 25h0m0s is too long":           {"--ttl", "25h", "x", "--", "true"},
		"`holdfast elect NAME -- CMD ARGS`\n": {"x"},
	} {
		code, _, errs := run(t, "redis://127.0.0.1:1", append([]string{"elect"}, args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, says)
	}
}

// The user gave a candidate, and no note.
func TestBadCandidateIsRefusedAsACandidate(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	for candidate, says := range map[string]string{
		strings.Repeat("a", 300): "the candidate's name is 300 bytes long",
		"a\tb":                   `the candidate's name "a\tb" has a character that cannot be printed`,
	} {
		code, _, errs := run(t, url, "elect", "--candidate", candidate, "x", "--", "true")
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, says)
		require.NotContains(t, errs, "note")
	}
}

// A shell's script is told by what it begins with.
func TestCandidateIsTheLabelByDefault(t *testing.T) {
	t.Parallel()
	url := redisURL(redistest.Start(t).Addr())
	begin(t, command(t, url, "elect", "x", "-c", sleeper)).says("ready")
	leader := status(t, url, "x", labelled).Holders[0]
	require.Regexp(t, `/\d+ echo$`, leader.Label)
	require.Equal(t, leader.Label, leader.Note)
}

func TestCandidatesLeadOneAfterTheOther(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url, rdb := redisURL(server.Addr()), server.Client(t)
	first := begin(t, command(t, url, "elect", "x", "-c", sleeper))
	first.says("ready")
	second := begin(t, command(t, url, "elect", "x", "-c", "echo ready; exit 4"))
	redistest.Eventually(t, longest, func() bool { return rdb.ZCard(t.Context(), "lock:{x}:queue").Val() == 1 }, "nobody waits")
	third := begin(t, command(t, url, "elect", "x", "--", "true"))
	redistest.Eventually(t, longest, func() bool { return rdb.ZCard(t.Context(), "lock:{x}:queue").Val() == 2 }, "only one waits")
	third.signal(syscall.SIGINT)
	require.Equal(t, 128+2, third.wait())
	require.Empty(t, second.out.String())
	first.signal(syscall.SIGTERM)
	require.Equal(t, 128+15, first.wait())
	require.Equal(t, 4, second.wait(), "the command's own code")
}

func TestDoctorTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	good := redistest.StartN(t, 2, "--appendonly", "yes", "--appendfsync", "always")
	evicts := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	mute := redistest.Start(t)
	rdb := mute.Client(t)
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "weak", "on", ">pw", "~*", "&*", "+@all", "-zadd", "-scan").Err())
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "dumb", "on", ">pw", "~*", "&*", "+@all", "-@scripting").Err())
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all").Err())
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "mum", "on", ">pw", "~*", "&*", "+@all", "-publish").Err())
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "hard", "on", ">pw", "~*", "&lock:{*", "+@all").Err())
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "reads", "on", ">pw", "~*", "&*", "+@all", "-@write").Err())
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "old", "on", ">pw", "~*", "&*", "+@all", "-pexpire").Err())
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "timeless", "on", ">pw", "~*", "&*", "+@all", "-time", "-ping").Err())
	would := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	full := redistest.Start(t, "--maxmemory", "1")
	host, port, err := net.SplitHostPort(good[0].Addr())
	require.NoError(t, err)
	replica := redistest.Start(t, "--replicaof", host+" "+port)
	a, b := redisURL(good[0].Addr()), redisURL(good[1].Addr())
	for name, c := range map[string]struct {
		servers []string
		code    int
		says    []string
		not     string
	}{
		"nothing": {[]string{a}, 0, []string{
			"locks can be taken, none may fail, and nothing is wrong", "there is one server", "appendfsync always", "noeviction", "master",
		}, "restart-guard"},
		"one is down": {[]string{a, b, "redis://127.0.0.1:1"}, exitFailed, []string{
			"wrong: 127.0.0.1:1: it cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused",
			"wrong: no more servers may fail", "locks can be taken, none may fail, and 2 things are wrong",
		}, "restart-guard"},
		"too few": {[]string{a, "redis://127.0.0.1:1", "redis://127.0.0.1:2"}, exitNoQuorum, []string{"no lock can be taken: too few servers are usable"}, ""},
		"the same server": {[]string{a, a, b}, exitNoQuorum, []string{
			"wrong: lock: redlock: the same server is given as two nodes: " + good[0].Addr(),
			"no lock can be taken: the same server is given as two nodes\n",
		}, "too few"},
		"eviction": {[]string{a, b, redisURL(evicts.Addr())}, exitFailed, []string{
			fmt.Sprintf("wrong: %s: maxmemory-policy is allkeys-lru", evicts.Addr()), "give --restart-guard",
		}, "no more servers may fail"},
		"rights": {[]string{"redis://weak:pw@" + mute.Addr()}, exitFailed, []string{
			"a place in a queue cannot be taken and given back", "refuses SCAN",
		}, "a mutex cannot be taken"},
		"rights for other locks": {[]string{"redis://old:pw@" + mute.Addr()}, exitNoQuorum, []string{
			"a mutex cannot be taken", "no lock can be taken",
		}, "locks can be taken"},
		"no scripts": {[]string{"redis://dumb:pw@" + mute.Addr()}, exitNoQuorum, []string{
			"refuses this user: NOPERM", "no lock can be taken",
		}, "and nothing is wrong"},
		"no time": {[]string{"redis://timeless:pw@" + mute.Addr()}, exitNoQuorum, []string{
			"it refuses TIME, which the scripts of locks ask for: NOPERM", "a mutex cannot be taken", "no lock can be taken",
		}, "reach"},
		"no messages": {[]string{"redis://deaf:pw@" + mute.Addr()}, exitFailed, []string{"does not let this user subscribe"}, ""},
		"no messages to others": {[]string{"redis://mum:pw@" + mute.Addr()}, exitFailed, []string{
			"does not let this user publish to lock:{", "does not let this user publish to lock:channel:",
		}, "subscribe"},
		"no messages of queues": {[]string{"redis://hard:pw@" + mute.Addr()}, exitFailed, []string{
			"does not let this user subscribe to lock:channel:",
		}, "to lock:{"},
		"a replica": {[]string{redisURL(replica.Addr())}, exitNoQuorum, []string{
			"it is a slave: locks need a master", "no lock can be taken",
		}, "and nothing is wrong"},
		"full":                   {[]string{redisURL(full.Addr())}, exitNoQuorum, []string{"OOM", "no lock can be taken"}, "locks can be taken"},
		"rights only to read":    {[]string{"redis://reads:pw@" + mute.Addr()}, exitNoQuorum, []string{"a mutex cannot be taken", "no lock can be taken"}, "locks can be taken"},
		"eviction, but no bound": {[]string{redisURL(would.Addr())}, 0, []string{"with a maxmemory, it would evict locks", "nothing is wrong"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := run(t, strings.Join(c.servers, ","), "doctor")
			require.Equal(t, c.code, code, out+errs)
			for _, words := range c.says {
				require.Contains(t, out, words)
			}
			if c.not != "" {
				require.NotContains(t, out, c.not)
			}
		})
	}
}

// The servers are well, and the reason is not theirs: it must be told.
func TestDoctorTellsWhichServersTheRestartGuardKeepsOut(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	var urls []string
	for _, s := range servers {
		urls = append(urls, redisURL(s.Addr()))
	}
	code, out, _ := run(t, strings.Join(urls, ","), "--restart-guard", "1h", "doctor")
	require.Equal(t, exitNoQuorum, code)
	for _, s := range servers {
		require.Contains(t, out, fmt.Sprintf("wrong: %s: it does not vote: node has restarted and does not vote yet", s.Addr()))
	}
	_, out, _ = run(t, strings.Join(urls, ","), "--restart-guard", "1h", "doctor", "--json")
	var x examination
	decode(t, out, &x)
	for _, n := range x.Nodes {
		require.Len(t, n.Findings, 1)
		require.Equal(t, wrong, n.Findings[0].Level)
	}
}

// The servers are not to blame for a prefix that no lock can have.
func TestDoctorBlamesTheCommandLine(t *testing.T) {
	t.Parallel()
	_, out, _ := run(t, redisURL(redistest.Start(t).Addr()), "--prefix", "", "doctor")
	require.Contains(t, out, "no lock can be taken: --prefix is empty\n")
	url := redisURL(redistest.Start(t).Addr())
	_, out, _ = run(t, url, "--prefix", "{}", "doctor")
	require.Contains(t, out, `no lock can be taken: --prefix "{}": the braces in`)
	_, out, _ = run(t, url, "--restart-guard", "1ms", "doctor")
	require.Contains(t, out, "no lock can be taken: --restart-guard 1ms is too short")
	code, _, errs := run(t, url, "--restart-guard", "1ms", "list")
	require.Equal(t, exitUsage, code, errs)
}

// Whoever can write to the servers writes what status and unlock show.
func TestStatusSteersNoTerminal(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	require.NoError(t, server.Client(t).HSet(t.Context(), "lock:{x}", "\x1b]0;owned\a\x1b[2J\nforged line", "nope").Err())
	_, out, _ := run(t, redisURL(server.Addr()), "status", "x")
	require.Contains(t, out, "]0;owned")
	require.Len(t, lines(out), 2, out)
	require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), unicode.IsControl), "%q", out)
}

// A hold that only few nodes have is one that unlock ends, so it is shown.
func TestUnlockShowsWhatItEnds(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	rdb := servers[1].Client(t)
	require.NoError(t, rdb.HSet(t.Context(), "lock:{x}", "c:7", "1").Err())
	require.NoError(t, rdb.PExpire(t.Context(), "lock:{x}", time.Hour).Err())
	urls := redisURL(servers[0].Addr()) + "," + redisURL(servers[1].Addr()) + "," + redisURL(servers[2].Addr())
	_, out, _ := run(t, urls, "status", "x")
	require.Contains(t, out, "x: free")
	require.Regexp(t, regexp.QuoteMeta("node     "+servers[1].Addr())+`: held by c:7, for another (1h0m0s|59m\d\ds)\n`, out)
	term := onTerminal(t, command(t, urls, "unlock", "--force", "x"))
	term.shows(`held by c:7(.|\n)*\[y/N\]`)
	term.types("y\r")
	require.Zero(t, term.code())
	require.Zero(t, rdb.Exists(t.Context(), "lock:{x}").Val())
}

// A server that is silent, as behind a firewall, is one that cannot be reached, however patient its URL has the client be.
func TestDoctorGivesASilentServerUp(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"redis", "redis+cluster"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			proxy := redistest.NewProxy(t, redistest.Start(t).Addr())
			proxy.Blackhole(true)
			code, out, errs := run(t, scheme+"://"+proxy.Addr()+"?read_timeout=0", "doctor")
			require.Equal(t, exitNoQuorum, code, errs)
			require.Contains(t, out, "cannot be reached")
		})
	}
}

// Where nobody listens, as after a crash, is no silent server: the first thing to look at is another one.
func TestAServerThatRefusesConnectionsIsNotSilent(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 2)
	urls := redisURL(servers[0].Addr()) + "," + redisURL(servers[1].Addr()) + ",redis://127.0.0.1:1"
	for _, command := range [][]string{{"status", "orders"}, {"list"}} {
		_, out, errs := run(t, urls, command...)
		require.Contains(t, out+errs, "127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused")
	}
}

// oneSilent are three servers, of which the last is silent.
func oneSilent(t *testing.T) (urls string) {
	t.Helper()
	servers := redistest.StartN(t, 3)
	proxy := redistest.NewProxy(t, servers[2].Addr())
	proxy.Blackhole(true)
	return redisURL(servers[0].Addr()) + "," + redisURL(servers[1].Addr()) + "," + redisURL(proxy.Addr())
}

// A client of all servers would wait for the silent one for longer than they take to be examined.
func TestDoctorAsksOnlyServersThatAnswerTogether(t *testing.T) {
	t.Parallel()
	urls := oneSilent(t)
	begun := time.Now()
	code, out, errs := run(t, urls, "doctor")
	require.Less(t, time.Since(begun), 6*pingTimeout, "one for the silent one, and moments for the others; the rest is for a busy machine")
	require.Equal(t, exitFailed, code, out+errs)
	require.Contains(t, out, "cannot be reached")
	require.Contains(t, out, "locks can be taken, none may fail")
}

// A command that has taken no lock has nothing to give back at its end, for which a silent server would be waited for.
func TestSilentServerDoesNotDelayTheEndOfWhoOnlyLooks(t *testing.T) {
	t.Parallel()
	urls := oneSilent(t)
	for _, c := range []struct {
		args []string
		most time.Duration // a second to connect, and one for each list; another second would be more
	}{
		{[]string{"status", "x"}, 1900 * time.Millisecond},
		{[]string{"wait", "x"}, 1900 * time.Millisecond},
		{[]string{"top"}, 2900 * time.Millisecond},
	} {
		redistest.Eventually(t, longest, func() bool { // a busy machine takes longer, sometimes
			begun := time.Now()
			_, _, _ = run(t, urls, c.args...)
			return time.Since(begun) < c.most
		}, "%v never ends within %v", c.args, c.most)
	}
}

// The names of other shards can be locked, and that those of the stuck one cannot is not for want of rights.
func TestOnlyOneShardOfAClusterIsStuck(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]int{"the one that is asked first": 0, "another": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := redistest.StartCluster(t)
			stuck := c.Servers[(c.Shard(t, "sample-0")+next)%len(c.Servers)]
			var addresses []string
			for _, s := range c.Servers {
				addresses = append(addresses, s.Addr())
			}
			stuck.Pause()
			url := "redis+cluster://" + addresses[0] + "?addr=" + strings.Join(addresses[1:], "&addr=")
			code, out, errs := run(t, url, "doctor")
			require.Equal(t, exitFailed, code, out+errs)
			require.Contains(t, out, "\nlocks can be taken, ")
			require.Contains(t, out, "wrong: "+stuck.Addr()+": the names in its slots cannot be locked")
			require.Contains(t, out, "advice: there is one Cluster, ")
			require.NotContains(t, out, "cannot be taken")
			require.NotContains(t, out, "takes longer")
			_, out, errs = run(t, url, "top")
			require.Contains(t, out, "0 of 1 nodes vote, 1 too few: not every lock can be taken; ", errs)
			require.Contains(t, out, "up, but does not vote: 1 of 3 masters would grant no lock: shard "+stuck.Addr())
		})
	}
}

// What is wrong with a master of a Cluster is found there, and not at another one whose names may be tried.
func TestDoctorBlamesTheMasterOfAClusterThatIsFull(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	full := slices.MaxFunc(c.Servers, func(a, b *redistest.Server) int { return cmp.Compare(a.Addr(), b.Addr()) })
	require.NoError(t, full.Client(t).ConfigSet(t.Context(), "maxmemory", "1").Err())
	url := "redis+cluster://" + c.Servers[0].Addr() + "?addr=" + c.Servers[1].Addr()
	code, out, errs := run(t, url, "doctor", "--json")
	require.Equal(t, exitFailed, code, out+errs)
	var x examination
	decode(t, out, &x)
	require.True(t, x.Quorum)
	require.Len(t, x.Nodes, len(c.Servers))
	for _, n := range x.Nodes {
		if n.Address != full.Addr() {
			require.Empty(t, n.Findings)
			continue
		}
		require.NotEmpty(t, n.Findings)
		for _, f := range n.Findings {
			require.Equal(t, wrong, f.Level)
			require.Contains(t, f.Text, "OOM")
		}
	}
}

func TestTheMasterThatAnErrorIsAboutIsBlamed(t *testing.T) {
	t.Parallel()
	exams := []*nodeExam{{Address: "a:6379"}, {Address: "b:6379"}}
	require.Equal(t, exams[1], blamed(exams, errors.New("1 of 2 masters would grant no lock: shard b:6379: the server was restarted")))
	require.Equal(t, exams[0], blamed(exams, errors.New("the servers do not answer")))
}

// With a prefix that puts all names into one slot, nothing is to be tried at other masters.
func TestDoctorTriesEachMasterWithNamesOfItsOwn(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	url := "redis+cluster://" + c.Servers[0].Addr() + "?addr=" + c.Servers[1].Addr()
	for prefix, most := range map[string]int{"lock": len(c.Servers), "{app}": 1} {
		code, out, errs := run(t, url, "--prefix", prefix, "doctor")
		require.Zero(t, code, out+errs)
		tried := 0
		for _, s := range c.Servers {
			if slices.ContainsFunc(s.Keys(t), func(key string) bool { return strings.HasPrefix(key, prefix+":") }) {
				tried++
			}
		}
		require.Equal(t, most, tried, prefix)
	}
}

func TestBoundedGivesUpWhatHangs(t *testing.T) {
	t.Parallel()
	done := false
	require.True(t, bounded(longest, func() { done = true }))
	require.True(t, done)
	hang := make(chan struct{})
	defer close(hang)
	require.False(t, bounded(time.Millisecond, func() { <-hang }))
}

// A shifted server is one whose clock is ahead of this machine's by so much.
type shifted time.Duration

func (s shifted) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s shifted) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if there, is := cmd.(*redis.TimeCmd); is {
			there.SetVal(there.Val().Add(time.Duration(s)))
		}
		return err
	}
}

func (s shifted) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestDoctorTellsOfClocksThatAreFarApart(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for _, shift := range []time.Duration{longest, -longest} {
		rdb := server.Client(t)
		rdb.AddHook(shifted(shift))
		e := new(nodeExam)
		require.True(t, e.examine(t.Context(), rdb))
		require.InDelta(t, shift.Seconds(), *e.ClockOffset/1000, longest.Seconds()/2, "a busy machine aside")
		require.Len(t, e.Findings, 1)
		require.Equal(t, advice, e.Findings[0].Level)
		require.Contains(t, e.Findings[0].Text, "differs from this machine's by")
	}
}

func TestDoctorMeasures(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	code, out, _ := run(t, redisURL(server.Addr()), "doctor", "--json")
	require.Zero(t, code)
	var x examination
	decode(t, out, &x)
	require.True(t, x.Quorum)
	require.Len(t, x.Nodes, 1)
	n := x.Nodes[0]
	require.True(t, n.Reachable)
	require.Equal(t, server.Addr(), n.Address)
	require.Equal(t, []string{"master", "no", "noeviction"}, []string{n.Role, n.AppendOnly, n.EvictionPolicy})
	require.Regexp(t, `^(Redis|Valkey) \d`, n.Version)
	require.LessOrEqual(t, n.RoundTrip.Min, n.RoundTrip.Median)
	require.LessOrEqual(t, n.RoundTrip.Median, n.RoundTrip.Max)
	require.Less(t, *n.ClockOffset, float64(longest.Milliseconds()), "its clock is ours")
	require.Equal(t, server.Info(t, "server", "redis_version"), strings.Fields(n.Version)[1])
	require.Empty(t, n.Findings)
	require.Zero(t, *n.MaxMemory, "there is no limit, and that is told")
	code, out, _ = run(t, "redis://127.0.0.1:1", "doctor", "--json")
	require.Equal(t, exitNoQuorum, code)
	require.NotContains(t, out, "Ms")
	require.NotContains(t, out, "maxMemory")
	// Nothing is left but counters that expire by themselves.
	for _, key := range server.Keys(t) {
		left := server.Client(t).PTTL(t.Context(), key).Val()
		require.NotEqual(t, time.Duration(-1), left, "%s stays", key)
		require.Less(t, left, longest, key)
	}
}

// With one of three servers down a list is complete, and says which was not asked.
func TestListWarnsOfServersThatAreDown(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 2)
	urls := redisURL(servers[0].Addr()) + "," + redisURL(servers[1].Addr()) + ",redis://127.0.0.1:1"
	redistest.Eventually(t, longest, func() bool { // a server that is slow for a moment is one too many
		code, out, errs := run(t, urls, "--json", "list")
		var warning map[string]string
		return code == 0 && out == "" && json.Unmarshal([]byte(errs), &warning) == nil &&
			warning["event"] == "warning" && strings.Contains(warning["error"], "the list is complete")
	}, "no such warning")
}

// A lock of which nobody can say who has it is in the list all the same, and the list says why.
func TestListTellsWhyALockCannotBeInspected(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	var urls []string
	for _, s := range servers {
		urls = append(urls, redisURL(s.Addr()))
		for _, name := range []string{"nightly", "weekly"} {
			require.NoError(t, s.Client(t).HSet(t.Context(), "lock:{"+name+"}", "a:1", 1).Err())
		}
	}
	for _, s := range servers[1:] {
		require.NoError(t, s.Client(t).Do(t.Context(), "ACL", "SETUSER", "default", "-hgetall").Err())
	}
	for _, command := range []string{"list", "top"} {
		code, out, errs := run(t, strings.Join(urls, ","), command)
		require.Equal(t, exitNoQuorum, code, errs)
		require.Regexp(t, "(?m)^nightly +unknown", out)
		require.Regexp(t, `"(nightly|weekly)".* no quorum`, errs)
		require.Regexp(t, "(?i)can't run this command|no permissions? to run", errs)
		require.Contains(t, errs, "one of 2 locks")
	}
}

// A lock that could not be ended by force is told as such, whatever the form of the output.
func TestUnlockThatFailsIsNoSuccess(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	url := redisURL(server.Addr())
	hold(t, url, "x")
	require.NoError(t, server.Client(t).Do(t.Context(), "ACL", "SETUSER", "weak", "on", ">pw", "~*", "&*", "+@all", "-zadd", "-hdel").Err())
	for _, args := range [][]string{{"unlock"}, {"unlock", "--json"}} {
		code, _, errs := run(t, "redis://weak:pw@"+server.Addr(), append(args, "--force", "--yes", "x")...)
		require.NotZero(t, code, args)
		require.Regexp(t, "(?i)can't run this command|no permissions? to run", errs)
	}
	require.Equal(t, "held", status(t, url, "x", func(lockView) bool { return true }).Status)
}

// That is not the servers' fault, if they have told.
func TestListTellsOfALockThatIsOdd(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	require.NoError(t, s.Client(t).HSet(t.Context(), "lock:{nightly}", "a:1p1/99999999", 1).Err())
	for _, command := range []string{"list", "top"} {
		code, out, errs := run(t, redisURL(s.Addr()), command)
		require.Zero(t, code)
		require.Contains(t, out, "nightly")
		require.Contains(t, errs, "99999999 permits")
		require.NotContains(t, out+errs, "could be asked")
		require.NotContains(t, out+errs, "complete")
	}
}

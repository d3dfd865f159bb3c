package lua

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// libraries stand in scripts and have headers of their own kind.
var libraries = []string{"clock", "guard", "former", "noted", "unnote", "token", "unmint", "void", "marks", "written", "extended", "place", "queue", "signs", "run", "rw", "permits"}

// calls has one of each script with all its arguments, about a lock called "name", as
// headers call it.
func calls(t *testing.T) map[string]Call {
	t.Helper()
	keys, err := NewKeys("lock", "name")
	require.NoError(t, err)
	fair := Fair{Keys: keys, Channel: ClientChannels("lock")}
	rw := RW{Fair: fair}
	permit := Permit{Fair: fair}
	held := PermitExtend{Permit: permit, Round: 1, Guard: time.Second}
	all := make(map[string]Call)
	for _, c := range []interface{ Call() Call }{
		Acquire{Keys: keys, Guard: time.Second, Noted: true}, Release{Keys: keys, Mark: time.Second, Undo: true, Noted: true}, Extend{Keys: keys, Round: 1, Guard: time.Second, Noted: true}, Fence{Keys: keys, Round: 1, Guard: time.Second},
		Reserve{Keys: keys}, Repair{Keys: keys, Guard: time.Second}, Restore{Keys: keys, Queued: true, Round: 1, Guard: time.Second}, Inspect{Keys: keys, Guard: time.Second}, Deaf{Keys: keys}, Far{Keys: keys, FarMark: FarMark{ID: "one:1"}}, Force{Keys: keys}, Forced{Keys: keys, Guard: time.Second}, Note{Keys: keys}, Keep{Fair: fair, Queued: true, Noted: true}, Probe{}, Ready{Keys: keys, Guard: time.Second}, Holds{Keys: keys}, Server{Keys: keys},
		FairAcquire{Fair: fair, Guard: time.Second, Noted: true}, FairRelease{Fair: fair, Undo: true, Noted: true, Served: []string{"one"}}, FairYield{Fair: fair}, FairSettle{Fair: fair}, FairBeat{Fair: fair, Holds: []string{"one"}},
		RWAcquire{RW: rw, Guard: time.Second, Noted: true}, RWRelease{RW: rw, Hold: "1w", Token: 7, Noted: true}, RWYield{RW: rw}, RWSettle{RW: rw}, RWBeat{RW: rw, Holds: []string{"one"}},
		RWExtend{RW: rw, Round: 1, Guard: time.Second, Noted: true}, RWRestore{RW: rw, Round: 1, Guard: time.Second}, RWRepair{RW: rw, Guard: time.Second}, RWKeep{RW: rw, Token: 7, Noted: true}, RWLook{RW: rw}, RWReserve{RW: rw},
		PermitAcquire{Permit: permit, Guard: time.Second}, PermitRelease{Permit: permit}, PermitYield{Permit: permit}, PermitSettle{Permit: permit}, PermitBeat{Permit: permit, Holds: []string{"one"}},
		held, PermitRestore{PermitExtend: held}, PermitRepair{PermitExtend: held}, PermitKeep{Permit: permit, Mark: time.Second}, PermitFence{Permit: permit, Guard: time.Second}, PermitReserve{Permit: permit}, PermitNote{Permit: permit}, PermitInspect{Permit: permit, Guard: time.Second},
	} {
		all[c.Call().script.Name] = c.Call()
	}
	return all
}

// commands are what scripts may use: the type of the key each is about, and whether it
// writes. What adds up when it is run twice, such as HINCRBY, is not among them, but for
// INCR: it is only run for a hold that is not there, and a second run finds it there.
var commands = map[string]struct {
	of     string // "": no key, or one of any type
	writes bool
}{
	"EXISTS": {}, "PTTL": {}, "TIME": {}, "INFO": {}, "PUBLISH": {}, "PUBSUB": {}, "PEXPIRE": {writes: true},
	"GET": {of: "string"}, "SET": {of: "string", writes: true}, "INCR": {of: "string", writes: true},
	"HGET": {of: "hash"}, "HMGET": {of: "hash"}, "HGETALL": {of: "hash"}, "HEXISTS": {of: "hash"}, "HRANDFIELD": {of: "hash"}, "HSET": {of: "hash", writes: true}, "HDEL": {of: "hash", writes: true},
	"ZSCORE": {of: "zset"}, "ZMSCORE": {of: "zset"}, "ZRANGE": {of: "zset"}, "ZREVRANGE": {of: "zset"}, "ZADD": {of: "zset", writes: true}, "ZREM": {of: "zset", writes: true},
	"ZREMRANGEBYSCORE": {of: "zset", writes: true},
}

var (
	keyLine  = regexp.MustCompile(`(?m)^-- (KEYS\[\d+\]) (lock:\{name\}\S*) +(hash|string|zset) +\S`)
	argLine  = regexp.MustCompile(`(?m)^-- (ARGV\[\d+(?:\.\.\.)?\]) (\S.*)$`)
	keyUse   = regexp.MustCompile(`KEYS\[\d+\]`)
	argUse   = regexp.MustCompile(`ARGV\[\d+\]`)
	returns  = regexp.MustCompile(`(?m)^-- Returns \S`)
	callUse  = regexp.MustCompile(`redis\.p?call\('(\w+)'(?:, ([^,)]+))?`)
	duration = regexp.MustCompile(`TTL|\blife\b|how long`)
)

// shebang is a line that Redis takes off before it reads the script.
const shebang = "#!lua\n"

// parts splits a file into what it opens with and the rest, both without blank ends.
func parts(t *testing.T, name string) (header, body string) {
	t.Helper()
	source, err := fs.ReadFile(sources, name+".lua")
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimPrefix(string(source), shebang), "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "--") })
	require.Positive(t, end, "%s.lua opens with a header", name)
	for _, l := range lines[end:] { // comments are no use of anything
		if !strings.HasPrefix(strings.TrimSpace(l), "--") {
			body += l
		}
	}
	return strings.Join(lines[:end], ""), body
}

func TestHeadersSayWhatScriptsUse(t *testing.T) {
	for name, call := range calls(t) {
		t.Run(name, func(t *testing.T) {
			header, body := parts(t, name)
			purpose, _, _ := strings.Cut(header, "\n--\n")
			require.Regexp(t, `^-- [A-Z][^.]+\.`, purpose, "a sentence of purpose")
			require.Regexp(t, returns, header, "what it returns")
			require.Contains(t, header, "\n-- Twice: ", "why it may run twice")

			types := make(map[string]string)
			var keys, patterns, args []string
			for _, m := range keyLine.FindAllStringSubmatch(header, -1) {
				keys, patterns, types[m[1]] = append(keys, m[1]), append(patterns, m[2]), m[3]
			}
			for _, m := range argLine.FindAllStringSubmatch(header, -1) {
				args = append(args, m[1])
				if duration.MatchString(m[2]) {
					require.Contains(t, m[2], "milliseconds", "%s has a unit", m[1])
				}
			}
			require.Equal(t, strings.Count(header, "-- KEYS["), len(keys), "KEYS[n], pattern, type, what it is")
			require.Equal(t, uses(keyUse, body), keys, "keys that are used and described")
			variadic := len(args) > 0 && strings.HasSuffix(args[len(args)-1], "...]")
			if variadic {
				require.Contains(t, body, "#ARGV")
				args = args[:len(args)-1]
			}
			require.Equal(t, uses(argUse, body), args, "arguments that are used and described")

			given := call.args[3:]
			require.Equal(t, len(keys), call.args[2])
			for i, pattern := range patterns {
				require.Equal(t, pattern, given[i], "KEYS[%d]", i+1)
			}
			if given = given[len(keys):]; variadic {
				require.Greater(t, len(given), len(args))
			} else {
				require.Len(t, given, len(args))
			}

			writes := false
			for _, m := range callUse.FindAllStringSubmatch(body, -1) {
				c, known := commands[m[1]]
				require.True(t, known, "%s may be used", m[1])
				writes = writes || c.writes
				if c.of != "" {
					require.Equal(t, c.of, types[m[2]], "%s of %s", m[1], m[2])
				}
			}
			if writes {
				require.Contains(t, header, "\n-- Late: ", "why it may run late")
			}
		})
	}
}

// What most calls would only repeat is not sent: the server pays for each argument.
func TestTheUsualIsNotSent(t *testing.T) {
	keys, err := NewKeys("lock", "name")
	require.NoError(t, err)
	acquire := Acquire{Keys: keys, Hold: "client:1", TTL: time.Second, Retention: time.Hour}.Call()
	require.Equal(t, []any{keys.Lock, keys.Token(), keys.Void(), "client:1", int64(1000), int64(3600000)}, acquire.args[3:])
	release := Release{Keys: keys, Hold: "client:1"}.Call()
	require.Equal(t, []any{keys.Lock, "client:1", ":channel"}, release.args[3:])
}

// A batch has no keys and commands but those of its calls.
func TestABatchAddsNothing(t *testing.T) {
	header, body := parts(t, "batch")
	for _, say := range []string{"\n-- Returns ", "\n-- Twice: ", "\n-- Late: "} {
		require.Contains(t, header, say)
	}
	require.NotRegexp(t, callUse, body)
	for _, name := range batched {
		require.Contains(t, calls(t), name)
	}
}

func TestLibrariesHaveFunctionsAndNoKeysOfTheirOwn(t *testing.T) {
	for _, name := range libraries {
		header, body := parts(t, name)
		require.Regexp(t, `^-- What the scripts .* share`, header)
		require.NotRegexp(t, `KEYS|ARGV`, body)
		require.NotRegexp(t, `(?m)^(?:[^\sle]|l[^o]|e[^n])`, body, "nothing but local functions")
		for _, m := range callUse.FindAllStringSubmatch(body, -1) {
			c, known := commands[m[1]]
			require.True(t, known, "%s may be used", m[1])
			require.True(t, c.of == "" || regexp.MustCompile(`^\w+$`).MatchString(m[2]), "%s of a key that the script has passed", m[1])
		}
	}
}

// Scripts are sent line by line, without comments: neither a string nor a comment may be longer than a line.
func TestNothingInAScriptSpansLines(t *testing.T) {
	files, err := fs.Glob(sources, "*.lua")
	require.NoError(t, err)
	for _, file := range files {
		text, err := fs.ReadFile(sources, file)
		require.NoError(t, err)
		require.NotRegexp(t, `\[=*\[|\\\n`, string(text), file)
	}
}

func TestEveryFileIsAScriptOrALibrary(t *testing.T) {
	files, err := fs.Glob(sources, "*.lua")
	require.NoError(t, err)
	want := append(slices.Collect(maps.Keys(calls(t))), append(slices.Clone(libraries), "batch")...)
	slices.Sort(want)
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".lua")
	}
	require.Equal(t, want, files)
}

// A Cluster must know all keys before a script runs, and an operator by their names.
func TestScriptsBuildNoKeys(t *testing.T) {
	for name := range calls(t) {
		_, body := parts(t, name)
		require.NotContains(t, body, "lock:")
		for _, m := range callUse.FindAllStringSubmatch(body, -1) {
			switch m[1] {
			case "TIME", "INFO", "PUBLISH", "PUBSUB":
			default:
				require.Regexp(t, `^KEYS\[\d+\]$`, m[2], "%s in %s.lua", m[1], name)
			}
		}
	}
}

// The permissions in the operators' page are what scripts need, no less and no more.
func TestPermissionsInTheDocsAreThoseThatScriptsNeed(t *testing.T) {
	page, err := os.ReadFile("../docs/keys.md")
	require.NoError(t, err)
	_, acl, _ := strings.Cut(string(page), "ACL SETUSER locker")
	acl, _, _ = strings.Cut(acl, "#")
	listed := make(map[string]bool)
	for _, m := range regexp.MustCompile(`\+(\w+)`).FindAllStringSubmatch(acl, -1) {
		listed[strings.ToUpper(m[1])] = true
	}
	used := make(map[string]bool)
	for _, name := range append(slices.Collect(maps.Keys(calls(t))), libraries...) {
		_, body := parts(t, name)
		for _, m := range callUse.FindAllStringSubmatch(body, -1) {
			used[m[1]] = true
			require.True(t, listed[m[1]], "%s.lua uses %s", name, m[1])
		}
	}
	for name := range commands {
		require.True(t, used[name], "%s is used", name)
	}
	for name := range listed {
		if _, script := commands[name]; !script {
			require.Contains(t, []string{"EVALSHA", "EVAL", "INFO", "SUBSCRIBE", "UNSUBSCRIBE", "PING", "HELLO"}, name)
		}
	}
}

// uses lists what matches in body, each once, in the order of their numbers.
func uses(use *regexp.Regexp, body string) []string {
	found := use.FindAllString(body, -1)
	slices.SortFunc(found, func(a, b string) int {
		if d := len(a) - len(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(found)
}

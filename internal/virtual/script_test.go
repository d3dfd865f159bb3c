package virtual

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// twins are a node, and miniredis as it is. What scripts do with either is compared.
type twins struct {
	t     *testing.T
	node  *Node
	plain *miniredis.Miniredis
	did   [2][]string // what scripts had them do
}

func newTwins(t *testing.T) *twins {
	miniredis.DumpMaxLineLen = 1 << 20
	w := &twins{t: t, node: Start(t), plain: miniredis.NewMiniRedis()}
	w.plain.ClockTTL(true)
	w.plain.Seed(1) // what is drawn at random is the same
	w.node.Memory().Seed(1)
	c, err := w.plain.Dial()
	require.NoError(t, err)
	require.NoError(t, c.Close())
	t.Cleanup(w.plain.Close)
	began := time.Now()
	w.watch(0, w.node.hook)
	w.watch(1, func(c *server.Peer, name string, _ ...string) bool {
		if name != "INFO" {
			return false
		}
		c.WriteBulk(fmt.Sprintf("# Server\r\nuptime_in_seconds:%d\r\n", int(time.Since(began).Seconds())))
		return true
	})
	return w
}

func (w *twins) servers() []*server.Server {
	return []*server.Server{w.node.Memory().Server(), w.plain.Server()}
}

// watch has hook look at the commands of one of them, and remembers those of scripts.
func (w *twins) watch(i int, hook server.Hook) {
	w.servers()[i].SetPreHook(func(c *server.Peer, name string, args ...string) bool {
		if name != "EVAL" && name != "EVALSHA" {
			w.did[i] = append(w.did[i], fmt.Sprintf("%s %q", name, args))
		}
		return hook(c, name, args...)
	})
}

// ask has a server run commands that come by one connection, and returns all that it writes.
func ask(s *server.Server, resp3 bool, commands ...[]string) string {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	peer := server.NewPeer(w)
	peer.Resp3 = resp3
	for _, args := range commands {
		s.Dispatch(peer, args)
		peer.Flush()
	}
	return out.String()
}

// same has both run the same commands and requires that nothing differs.
func (w *twins) same(resp3 bool, commands ...[]string) string {
	w.t.Helper()
	w.did = [2][]string{}
	servers := w.servers()
	ours, theirs := ask(servers[0], resp3, commands...), ask(servers[1], resp3, commands...)
	require.Equal(w.t, theirs, ours, "%q", commands)
	require.Equal(w.t, w.did[1], w.did[0], "%q", commands)
	require.Equal(w.t, memory(w.plain), memory(w.node.Memory()), "%q", commands)
	return ours
}

// memory is all that a server has in its first database.
func memory(m *miniredis.Miniredis) string {
	var all strings.Builder
	all.WriteString(m.Dump())
	for _, key := range m.Keys() {
		fmt.Fprintln(&all, key, m.Type(key), m.TTL(key))
	}
	return all.String()
}

// callers have one of each script of package lua.
var callers = []interface{ Call() lua.Call }{
	lua.Acquire{}, lua.Release{}, lua.Extend{}, lua.Fence{}, lua.Reserve{}, lua.Repair{}, lua.Restore{}, lua.Inspect{}, lua.Deaf{}, lua.Far{}, lua.Force{}, lua.Forced{},
	lua.Note{}, lua.Keep{}, lua.Probe{}, lua.Ready{}, lua.Holds{}, lua.Server{},
	lua.FairAcquire{}, lua.FairRelease{}, lua.FairYield{}, lua.FairSettle{}, lua.FairBeat{},
	lua.RWAcquire{}, lua.RWRelease{}, lua.RWYield{}, lua.RWSettle{}, lua.RWBeat{}, lua.RWExtend{}, lua.RWRestore{}, lua.RWRepair{}, lua.RWKeep{}, lua.RWLook{}, lua.RWReserve{},
	lua.PermitAcquire{}, lua.PermitRelease{}, lua.PermitYield{}, lua.PermitSettle{}, lua.PermitBeat{}, lua.PermitExtend{}, lua.PermitRestore{},
	lua.PermitRepair{}, lua.PermitKeep{}, lua.PermitFence{}, lua.PermitReserve{}, lua.PermitNote{}, lua.PermitInspect{},
}

func TestEveryScriptIsAmongThose(t *testing.T) {
	files, err := filepath.Glob("../../lua/*.lua")
	require.NoError(t, err)
	want := []string{}
	used := make(map[string]bool)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(file), ".lua")
		if name == "batch" { // what it is made of is there; miniredis refuses it
			continue
		}
		want = append(want, name)
		for _, line := range regexp.MustCompile(`(?m)^ *-- uses (.*)$`).FindAllStringSubmatch(string(source), -1) {
			for _, library := range strings.Split(line[1], ", ") {
				used[library] = true
			}
		}
	}
	want = slices.DeleteFunc(want, func(name string) bool { return used[name] })
	var have []string
	for _, c := range callers {
		s := c.Call().Script()
		have = append(have, s.Name)
		require.True(t, scriptOf(s.Source).ours() && scriptOf(s.Source).compiled != nil, s.Name+" is left to miniredis")
	}
	require.ElementsMatch(t, want, have)
}

func TestScriptsDoWhatTheyDoOnMiniredis(t *testing.T) {
	keys, err := lua.NewKeys("lock", "name")
	require.NoError(t, err)
	all := reflect.ValueOf(keys)
	refused, granted := 0, 0
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			chance, w := rand.New(rand.NewPCG(seed, 0)), newTwins(t)
			for range 400 {
				switch key := all.Field(chance.IntN(all.NumField())).String(); chance.IntN(12) {
				case 0:
					time.Sleep(time.Duration(chance.IntN(40_000)) * time.Millisecond)
				case 1:
					w.same(false, []string{"DEL", key})
				case 2:
					w.same(false, []string{"FLUSHALL"})
				case 3:
					w.same(false, [][]string{
						{"SET", key, "a text"}, {"HSET", key, "a field", "1"}, {"ZADD", key, "7", "one"}, {"RPUSH", key, "one"},
					}[chance.IntN(4)])
				default:
				}
				c := callers[chance.IntN(len(callers))]
				filled := reflect.New(reflect.TypeOf(c)).Elem()
				fill(t, chance, keys, filled)
				args := []string{"EVAL"}
				call := filled.Interface().(interface{ Call() lua.Call }).Call()
				for _, arg := range call.Cmd(bg).Args()[1:] {
					args = append(args, fmt.Sprint(arg))
				}
				args[1] = call.Script().Source
				if chance.IntN(10) == 0 && len(args) > 3 { // what no caller sends
					i := 3 + chance.IntN(len(args)-3)
					args[i] = []string{"", "no number", "-1", "1e300", args[len(args)-1]}[chance.IntN(5)]
				}
				if strings.HasPrefix(w.same(chance.IntN(2) == 0, args), "-") {
					refused++
				} else {
					granted++
				}
			}
		})
	}
	require.Greater(t, refused, 100, "errors are compared, too")
	require.Greater(t, granted, 1000)
}

// fill fills a call of a script at random.
func fill(t *testing.T, chance *rand.Rand, keys lua.Keys, v reflect.Value) {
	pick := func(from ...any) {
		v.Set(reflect.ValueOf(from[chance.IntN(len(from))]).Convert(v.Type()))
	}
	switch v.Interface().(type) {
	case lua.Keys:
		v.Set(reflect.ValueOf(keys))
		return
	case time.Duration:
		pick(time.Duration(0), time.Millisecond, 3*time.Second, 30*time.Second, time.Hour)
		return
	case lua.Slots:
		pick("", "0", "1", "0-1", "0 2")
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, chance, keys, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), chance.IntN(3), 3))
		for i := range v.Len() {
			fill(t, chance, keys, v.Index(i))
		}
	case reflect.String:
		pick("a:1", "a:2", "b:1r", "b:2w", "c:1p1/3", "c:2p2/3", "")
	case reflect.Int, reflect.Int64:
		pick(0, 1, 2, 3, 1_000_000_007)
	case reflect.Bool:
		v.SetBool(chance.IntN(2) == 0)
	default:
		t.Fatalf("nothing to fill a %v with", v.Type())
	}
}

// snippets are scripts about what scripts may do and answer.
var snippets = []string{
	`return nil`, `return`, `return true`, `return false`, `return 7`, `return -7.9`, `return 'a\r\nb'`, `return ''`,
	`return {}`, `return {1, 'two', {3, false}, true, nil, 5}`, `return {err = 'NO such'}`, `return {ok = 'fine', 1}`, `return {1, {err = 'inner'}}`,
	`return KEYS`, `return ARGV`, `return #KEYS + #ARGV`, `KEYS[1] = nil return {KEYS[1], KEYS[2]}`, `return KEYS[3]`,
	`return redis.status_reply('fine')`, `return redis.error_reply('NO such')`, `return redis.error_reply('-NO such thing')`, `return redis.error_reply('one')`,
	`return redis.error_reply(1)`, `return redis.status_reply({})`, `return redis.sha1hex('x')`, `return redis.sha1hex()`,
	`return redis.replicate_commands()`, `redis.log(redis.LOG_NOTICE, 'x') return redis.LOG_WARNING`, `redis.log('x')`,
	`return redis.call('SET', KEYS[1], 1.5, 'PX', 1000)`, `return redis.call('GET', KEYS[1])`, `return redis.call('GET', KEYS[2])`, `return redis.call('PTTL', KEYS[1])`,
	`return redis.call('HSET', KEYS[2], 'f', 1e15, 'g', 12345678901234)`, `return redis.call('HGETALL', KEYS[2])`, `return redis.call('HGETALL', 'none')`,
	`return redis.call('HMGET', KEYS[2], 'f', 'none', 'g')`, `return redis.call('GET', KEYS[2])`, `return redis.pcall('GET', KEYS[2])`,
	`return redis.pcall('GET', KEYS[2]).err`, `local r = redis.call('SET', KEYS[1], 'x') return r.ok`, `return type(redis.call('GET', 'none'))`,
	`return {redis.pcall('GET', KEYS[2])}`, `return select('#', redis.call('HGETALL', 'none'))`, `return #redis.call('HGETALL', KEYS[2])`,
	`return redis.call()`, `return redis.call(nil)`, `return redis.call('GET', {})`, `return redis.call('GET', true)`, `return redis.pcall('GET', true)`,
	`return redis.call('GET')`, `return redis.pcall('GET')`, `return redis.call('NONSENSE')`, `return redis.pcall('NONSENSE', 1)`, `return redis.call('')`,
	`return redis.call('MULTI')`, `return redis.pcall('EVAL', 'return 1', 0)`, `return redis.call('EVALSHA', 'x', 0)`, `return redis.call('SUBSCRIBE', 'x')`,
	`redis.call('SELECT', 1) redis.call('SET', KEYS[1], 'elsewhere') return 1`, `return redis.call('GET', KEYS[1])`,
	`return redis.call('PUBLISH', 'x', 'y')`, `return redis.call('TIME')`, `return redis.call('EVAL', 'return 1', 0)`,
	`return redis.call('ZADD', KEYS[1], 1, 'x')`, `redis.call('SET', 'half', 1) error('done')`, `error('no place', 0)`, `error()`,
	`local ok, e = pcall(error, 'x') return {ok, e}`, `local ok, e = pcall(redis.call, 'GET', KEYS[2]) return {ok, type(e)}`, `return pcall(function() return nil + 1 end)`,
	`return nil + 1`, `local t = nil; return t.x`, `return 'x' < 1`, `return KEYS[1] .. {}`, `local function f() return f() + 1 end return f()`, `return unpack({}, 1, 1e7)`,
	`return string.format('%.0f|%5d|%s', 2^53, 42, 'x')`, `return {string.find('abc', 'b', 1, true)}`, `return ('x'):rep(3)`, `return string.rep('x', 10000)`,
	`local r = {} for a, b in string.gmatch('1-2 3-4', '(%d)-(%d)') do r[#r + 1] = b .. a end return r`, `return tostring(1e100)`, `return tonumber('0x10')`, `return tonumber('1e3')`,
	`return math.max(1, 2.7, -3)`, `return {math.floor(-1.5), math.ceil(-1.5), math.huge}`, `local t = {3, 1, 2} table.sort(t) return table.concat(t, ',')`,
	`return 10 / 4`, `return 7 % -3`, `return #'x' == 1 and {1} or {2}`, `return string.match('p1/3', 'p(%d+)/(%d+)$')`,
	`return cjson.encode({1, 2})`, `return cjson.decode('[1]')`, `return redis.setresp(3)`, `return os.clock()`, `return bit`,
	`return 1 +`, `#!lua` + "\n" + `return 1`, `return "`, ``,
	// What others must not see.
	`x = 1`, `return x`, `x = nil`, `rawset(_G, 'left', 1) return left`, `return left`, `_G.KEYS = 7`, `redis = nil`, `return redis.call('PING')`,
	`redis.call = nil`, `redis.mine = 1`, `return redis.mine`, `local m = math m.pi = 3`, `return math.pi * 100`, `string.find = nil return 1`, `return string.find('a', 'a')`,
	`for _, m in ipairs({string}) do m.upper = m.lower end`, `return string.upper('a')`, `local function set(t) t.max = 1 end set(math)`, `return math.max(1, 2)`,
	`getmetatable('').__index = nil`, `return ('x'):upper()`, `local i = ('').__index if i then i.lower = 1 end`, `return ('X'):lower()`, `('').len = 1`,
	`setmetatable(_G, nil) y = 1`, `return y`, `tonumber = nil`, `return tonumber('3')`, `setfenv(1, {})`, `local e = getfenv(0) e.type = nil`, `return type(1)`,
	`loadstring('z = 1')()`, `return z`, `table.insert(KEYS, 'more') return #KEYS`, `return #KEYS`, `math.randomseed(1) return math.random(1, 1)`, `return debug`,
	`table:insert('more') return 1`, `return table:concat()`, `local m = math local f = m.max m.max = m.min return f(1, 2)`, `return math.max(1, 2)`,
	`local c = coroutine.wrap(function() coroutine.yield(7) end) return c()`, `return (false or math).pi`, `return (KEYS[9] or redis).call('PING')`,
}

func TestRepliesAndErrorsAreThoseOfMiniredis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwins(t)
		for _, resp3 := range []bool{false, true} {
			for range 2 { // once more after all others
				for _, source := range snippets {
					w.same(resp3, []string{"EVAL", source, "2", "one", "two", "first", "2"})
				}
				w.same(resp3, []string{"FLUSHALL"})
			}
		}
		for _, args := range [][]string{{"return 1"}, {"return 1", "x"}, {"return 1", "-1"}, {"return 1", "1"}, {"1 +", "1"}, {}} {
			w.same(false, append([]string{"EVAL"}, args...))
		}
	})
}

func TestConnectionsOfAKindOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwins(t)
		set := []string{"EVAL", "return redis.call('SET', KEYS[1], 'x')", "1", "k"}
		bySHA := append([]string{"EVALSHA", hash(set[1])}, set[2:]...)
		w.same(false, set)
		w.same(false, []string{"DEL", "k"})
		w.same(false, []string{"MULTI"}, set, bySHA)
		require.False(t, w.node.Memory().Exists("k"), "it is queued")
		w.same(false, []string{"MULTI"}, set, []string{"EXEC"})
		w.same(false, []string{"DEL", "k"})
		w.same(false, []string{"SELECT", "1"}, set, bySHA)
		require.True(t, w.node.Memory().DB(1).Exists("k"))
		require.False(t, w.node.Memory().Exists("k"))
		w.same(false, []string{"SUBSCRIBE", "news"}, set, []string{"UNSUBSCRIBE"})
		require.Contains(t, w.same(false, []string{"EVAL", "return redis.call('EVALSHA', ARGV[1], 1, 'k')", "0", hash(set[1])}), "not allowed")
		require.Contains(t, w.same(false, []string{"EVAL", "x = 1 return redis.call('EVALSHA', ARGV[1], 1, 'k')", "0", hash(set[1])}), "global")
	})
}

func TestScriptIsKnownByItsHashOnceItWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwins(t)
		for _, source := range []string{"return 'contained'", "local m = math return m.pi"} {
			run := []string{"EVALSHA", hash(source), "0"}
			require.Contains(t, w.same(false, run), "-NOSCRIPT")
			w.same(false, []string{"EVAL", source, "0"})
			require.NotContains(t, w.same(false, run), "-")
			require.Equal(t, "*2\r\n:1\r\n:0\r\n", w.same(false, []string{"SCRIPT", "EXISTS", hash(source), hash("")}))
			w.same(false, []string{"SCRIPT", "FLUSH"})
			require.Contains(t, w.same(false, run), "-NOSCRIPT")
			require.Equal(t, "*1\r\n:0\r\n", w.same(false, []string{"SCRIPT", "EXISTS", hash(source)}))
			w.same(false, []string{"SCRIPT", "LOAD", source})
			require.NotContains(t, w.same(false, run), "-")
			require.Equal(t, "*1\r\n:1\r\n", w.same(false, []string{"SCRIPT", "EXISTS", hash(source)}))
			w.node.Restart()
			w.watch(0, w.node.hook)
			require.Contains(t, ask(w.servers()[0], false, run), "-NOSCRIPT")
			w.same(false, []string{"SCRIPT", "FLUSH"})
		}
	})
}

// As on miniredis; other tests count what they send.
func TestScriptThatFailedIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, source := newTwins(t), "error('as always')"
		w.same(false, []string{"EVAL", source, "0"})
		require.Contains(t, w.same(false, []string{"EVALSHA", hash(source), "0"}), "-NOSCRIPT")
	})
}

func TestInterpreterIsForTheNextNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Start(t)
		require.Equal(t, ":1\r\n", ask(n.Memory().Server(), false, []string{"EVAL", "return 1", "0"}))
		first := n.runner.interpreter
		require.NotNil(t, first)
		require.Contains(t, ask(n.Memory().Server(), false, []string{"EVAL", "error('x')", "0"}), "-ERR")
		require.Nil(t, n.runner.interpreter, "nobody knows what an error leaves behind")
		ask(n.Memory().Server(), false, []string{"EVAL", "return 1", "0"})
		second := n.runner.interpreter
		n.Kill()
		idle.Lock()
		defer idle.Unlock()
		require.Contains(t, idle.interpreters, second)
		require.NotContains(t, idle.interpreters, first)
	})
}

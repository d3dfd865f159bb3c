package virtual

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// An interpreter runs scripts as miniredis does, one after the other. To make one takes many times as long as
// to run a script, and miniredis makes one for each run. Here a node has one for as long as it lives. It only
// runs what leaves nothing behind in it: see [contained].
//
// It is not safe for concurrent use: its node runs one script at a time, as Redis does.
type interpreter struct {
	state *lua.LState

	reply  bytes.Buffer // of a command that a script runs
	writer *bufio.Writer

	// What runs now.
	sha     string
	server  *server.Server
	context any // of the connection by which the script runs commands
}

func newInterpreter() *interpreter {
	in := &interpreter{state: lua.NewState(lua.Options{SkipOpenLibs: true})}
	in.writer = bufio.NewWriter(&in.reply)
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		in.state.Push(in.state.NewFunction(open))
		in.state.Push(lua.LString(name))
		in.state.Call(1, 0)
	}
	// A script that has a string has its metatable, which must not lead to the library.
	methods := in.state.NewTable()
	library := in.state.G.Global.RawGetString(lua.StringLibName)
	library.(*lua.LTable).RawSetString("__index", lua.LNil)
	methods.RawSetString("__index", library)
	in.state.SetMetatable(lua.LString(""), methods)

	module := in.state.NewTable()
	for name, f := range map[string]lua.LGFunction{
		"call":               func(*lua.LState) int { return in.command(true) },
		"pcall":              func(*lua.LState) int { return in.command(false) },
		"error_reply":        errorReply,
		"status_reply":       statusReply,
		"sha1hex":            sha1hex,
		"log":                func(l *lua.LState) int { l.CheckInt(1); l.CheckString(2); return 0 },
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
	} {
		module.RawSetString(name, in.state.NewFunction(f))
	}
	for i, level := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		module.RawSetString(level, lua.LNumber(i))
	}
	in.state.G.Global.RawSetString("redis", module)
	return in
}

// run runs a script and writes its reply to who has called it. The server must be locked. It tells whether the interpreter is as it
// was before; after an error nobody knows.
func (in *interpreter) run(s *script, on *server.Server, c *server.Peer, keys, argv []string) (sound bool) {
	in.sha, in.server, in.context = s.sha, on, nestedContext()
	globals := in.state.G.Global
	globals.RawSetString("KEYS", in.list(keys))
	globals.RawSetString("ARGV", in.list(argv))
	in.state.Push(in.state.NewFunctionFromProto(s.compiled))
	if err := in.state.PCall(0, lua.MultRet, nil); err != nil {
		c.WriteError(compiling + err.Error())
		return false
	}
	result := in.state.Get(1)
	in.state.SetTop(0)
	c.Block(func(w *server.Writer) { write(w, result) })
	in.server, in.context = nil, nil
	globals.RawSetString("KEYS", lua.LNil)
	globals.RawSetString("ARGV", lua.LNil)
	return true
}

// list makes a table of texts.
func (in *interpreter) list(texts []string) *lua.LTable {
	t := in.state.CreateTable(len(texts), 0)
	for _, text := range texts {
		t.Append(lua.LString(text))
	}
	return t
}

// command is redis.call, and redis.pcall if it does not raise errors.
func (in *interpreter) command(raise bool) int {
	l := in.state
	n := l.GetTop()
	if n == 0 {
		l.Error(lua.LString("Please specify at least one argument for this redis lib call script: "+in.sha+", &c."), 1)
	}
	args := make([]string, n)
	for i := range args {
		switch arg := l.Get(i + 1).(type) {
		case lua.LNumber:
			args[i] = arg.String()
		case lua.LString:
			args[i] = string(arg)
		default:
			l.Error(lua.LString("Lua redis lib command arguments must be strings or integers script: "+in.sha+", &c."), 1)
		}
	}
	in.reply.Reset()
	in.writer.Reset(&in.reply)
	peer := server.NewPeer(in.writer)
	peer.Ctx = in.context
	in.server.Dispatch(peer, args)
	_ = in.writer.Flush() // to memory
	reply := reply{rest: in.reply.Bytes(), state: l}
	value := reply.value()
	if reply.failure == "" {
		l.Push(value)
		return 1
	}
	failure := strings.ReplaceAll(reply.failure, contextSHA, in.sha)
	unknown := strings.Contains(failure, "ERR unknown command")
	switch {
	case raise && unknown:
		l.Error(lua.LString("Unknown Redis command called from script script: "+in.sha+", &c."), 1)
	case raise:
		l.Error(lua.LString(failure), 1)
	case unknown:
		failure = "ERR Unknown Redis command called from script"
	}
	l.Push(field("err", failure))
	return 1
}

func field(name, text string) *lua.LTable {
	t := new(lua.LTable)
	t.RawSetString(name, lua.LString(text))
	return t
}

func errorReply(l *lua.LState) int {
	text, ok := l.Get(1).(lua.LString)
	if !ok {
		l.Error(lua.LString("wrong number or type of arguments"), 1)
	}
	code, rest, more := strings.Cut(string(text), " ")
	code = strings.TrimPrefix(code, "-")
	if more {
		l.Push(field("err", code+" "+rest))
	} else {
		l.Push(field("err", "ERR "+code))
	}
	return 1
}

func statusReply(l *lua.LState) int {
	text, ok := l.Get(1).(lua.LString)
	if !ok {
		l.Error(lua.LString("wrong number or type of arguments"), 1)
	}
	l.Push(field("ok", string(text)))
	return 1
}

func sha1hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		l.Error(lua.LString("wrong number of arguments"), 1)
	}
	l.Push(lua.LString(hash(lua.LVAsString(l.Get(1)))))
	return 1
}

// write writes what a script returned.
func write(w *server.Writer, v lua.LValue) {
	switch v := v.(type) {
	case lua.LBool:
		if v {
			w.WriteInt(1)
		} else {
			w.WriteNull()
		}
	case lua.LNumber:
		w.WriteInt(int(v))
	case lua.LString:
		w.WriteBulk(string(v))
	case *lua.LTable:
		if text := v.RawGetString("err"); text != lua.LNil {
			w.WriteError(text.String())
			return
		}
		if text := v.RawGetString("ok"); text != lua.LNil {
			w.WriteInline(text.String())
			return
		}
		n := 0
		for v.RawGetInt(n+1) != lua.LNil {
			n++
		}
		w.WriteLen(n)
		for i := range n {
			write(w, v.RawGetInt(i+1))
		}
	default: // nil, or what has no counterpart in Redis
		w.WriteNull()
	}
}

// idle are interpreters of nodes that are gone.
var idle struct {
	sync.Mutex
	interpreters []*interpreter
}

// takeInterpreter returns one that nobody uses.
func takeInterpreter() *interpreter {
	idle.Lock()
	defer idle.Unlock()
	if n := len(idle.interpreters); n > 0 {
		in := idle.interpreters[n-1]
		idle.interpreters = idle.interpreters[:n-1]
		return in
	}
	return newInterpreter()
}

func giveInterpreter(in *interpreter) {
	idle.Lock()
	defer idle.Unlock()
	idle.interpreters = append(idle.interpreters, in)
}

// A reply is what a command has answered, as a script sees it.
type reply struct {
	rest    []byte
	state   *lua.LState
	failure string // an error, also if it stands within an array
}

func (r *reply) line() string {
	line, rest, _ := bytes.Cut(r.rest, []byte("\r\n"))
	r.rest = rest
	return string(line)
}

// value reads a value.
func (r *reply) value() lua.LValue {
	line := r.line()
	if line == "" {
		r.failure = server.ErrProtocol.Error()
		return lua.LNil
	}
	kind, text := line[0], line[1:]
	switch kind {
	case '+':
		return field("ok", text)
	case '-':
		r.failure = text
		return lua.LNil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		r.failure = server.ErrProtocol.Error()
		return lua.LNil
	}
	switch {
	case kind == ':':
		return lua.LNumber(n)
	case n < 0:
		return lua.LFalse
	case kind == '$' && len(r.rest) >= n+2:
		text := lua.LString(r.rest[:n])
		r.rest = r.rest[n+2:]
		return text
	case kind == '*':
		list := r.state.CreateTable(n, 0)
		for range n {
			v := r.value()
			if r.failure != "" {
				return lua.LNil
			}
			list.Append(v)
		}
		return list
	default:
		r.failure = server.ErrProtocol.Error()
		return lua.LNil
	}
}

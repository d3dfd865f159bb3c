package virtual

import (
	"crypto/sha1" //nolint:gosec // it is what Redis calls scripts by
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// A script is one that a node was told. It is the same for all nodes, and immutable once it is compiled.
type script struct {
	source string
	sha    string

	once     sync.Once
	compiled *lua.FunctionProto // nil: miniredis is to run it
	problem  error              // why it is no script
}

// scripts are all that were ever told, by their sources.
var scripts sync.Map

func scriptOf(source string) *script {
	if s, ok := scripts.Load(source); ok {
		return s.(*script)
	}
	s, _ := scripts.LoadOrStore(source, &script{source: source, sha: hash(source)})
	return s.(*script)
}

// compiling is what miniredis' errors about scripts begin with.
const compiling = "ERR Error compiling script (new function): "

// ours tells whether s is not for miniredis to run.
func (s *script) ours() bool {
	s.once.Do(func() {
		chunk, err := parse.Parse(strings.NewReader(s.source), "<string>") // as miniredis calls it in errors
		var compiled *lua.FunctionProto
		if err == nil {
			compiled, err = lua.Compile(chunk, "")
		}
		if err != nil {
			s.problem = err
		} else if contained(compiled) {
			s.compiled = compiled
		}
	})
	return s.compiled != nil || s.problem != nil
}

// Load has the node know scripts by their hashes until it is killed or told SCRIPT FLUSH.
func (n *Node) Load(sources ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, source := range sources {
		s := scriptOf(source)
		n.scripts[s.sha] = s
	}
}

func hash(source string) string {
	sum := sha1.Sum([]byte(source)) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// script executes commands that concern scripts, if miniredis is not to, and tells whether it has answered.
func (n *Node) script(c *server.Peer, name string, args []string) bool {
	switch {
	case name == "SCRIPT" && len(args) == 2 && strings.EqualFold(args[0], "LOAD"):
		n.Load(args[1])
		c.WriteBulk(hash(args[1]))
		return true
	case name == "SCRIPT" && len(args) > 1 && strings.EqualFold(args[0], "EXISTS"):
		n.mu.Lock()
		known := make([]int, len(args)-1)
		for i, sha := range args[1:] {
			if n.scripts[sha] != nil {
				known[i] = 1
			}
		}
		n.mu.Unlock()
		c.Block(func(w *server.Writer) {
			w.WriteLen(len(known))
			for _, one := range known {
				w.WriteInt(one)
			}
		})
		return true
	case name == "SCRIPT" && len(args) > 0 && strings.EqualFold(args[0], "FLUSH"):
		n.mu.Lock()
		clear(n.scripts)
		n.mu.Unlock()
	case name == "EVAL" && len(args) > 0:
		s := scriptOf(args[0])
		n.mu.Lock()
		on := n.runner
		n.mu.Unlock()
		done, failed := on.run(s, c, args[1:])
		if s.problem == nil && !failed { // miniredis forgets one that failed, which Redis does not
			n.Load(s.source)
		}
		return done
	case name == "EVALSHA" && len(args) > 0:
		n.mu.Lock()
		s, on := n.scripts[args[0]], n.runner
		n.mu.Unlock()
		if s == nil || on == nil {
			return false
		}
		if done, _ := on.run(s, c, args[1:]); !done {
			on.memory.Server().Dispatch(c, append([]string{"EVAL", s.source}, args[1:]...))
		}
		return true
	}
	return false
}

// A runner runs the scripts of a node from its start until it is killed.
type runner struct {
	memory      *miniredis.Miniredis
	server      *server.Server
	interpreter *interpreter // guarded by memory's mutex; nil: there is none yet
}

// run runs a script that is called by c with what follows the script in an EVAL. It tells whether it has answered,
// otherwise miniredis is to run the script, and whether the script has raised an error.
func (r *runner) run(s *script, c *server.Peer, args []string) (done, failed bool) {
	if r == nil || len(args) == 0 || !ordinary(c) || !s.ours() {
		return false, false
	}
	keys, err := strconv.Atoi(args[0])
	if err != nil || keys < 0 || keys >= len(args) {
		return false, false
	}
	if s.problem != nil {
		c.WriteError(compiling + s.problem.Error())
		return true, true
	}
	r.memory.Lock()
	defer r.memory.Unlock()
	if r.interpreter == nil {
		r.interpreter = takeInterpreter()
	}
	if !r.interpreter.run(s, r.server, c, args[1:1+keys], args[1+keys:]) {
		r.interpreter = nil
		return true, true
	}
	return true, false
}

// end gives the interpreter to others. No script runs any more.
func (r *runner) end() {
	r.memory.Lock()
	defer r.memory.Unlock()
	if r.interpreter != nil {
		giveInterpreter(r.interpreter)
		r.interpreter = nil
	}
}

package lua

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	interpreter "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// globals are what Redis gives a script, as far as scripts here use it.
var globals = []string{"redis", "KEYS", "ARGV", "string", "math", "tonumber", "type", "pcall", "error", "unpack", "table"}

// A function of a library that a script does not use, or uses further down, is to Lua a
// global that is not there. That comes to light where the line runs, and some seldom do.
func TestScriptsUseWhatIsThere(t *testing.T) {
	scripts := map[string]*Script{"batch": batchScript}
	for name, call := range calls(t) {
		scripts[name] = call.script
	}
	for name, s := range scripts {
		t.Run(name, func(t *testing.T) {
			chunk, err := parse.Parse(strings.NewReader(strings.TrimPrefix(s.Source, shebang)), name)
			require.NoError(t, err)
			script, err := interpreter.Compile(chunk, name)
			require.NoError(t, err)
			require.Subset(t, globals, namesOfGlobals(script))
		})
	}
}

// namesOfGlobals lists the globals that a function, or one inside it, reads or writes.
func namesOfGlobals(f *interpreter.FunctionProto) []string {
	names := make([]string, 0)
	for _, instruction := range f.Code {
		switch int(instruction >> 26) {
		case interpreter.OP_GETGLOBAL, interpreter.OP_SETGLOBAL:
			names = append(names, f.Constants[instruction&(1<<18-1)].String())
		}
	}
	for _, inner := range f.FunctionPrototypes {
		names = append(names, namesOfGlobals(inner)...)
	}
	return names
}

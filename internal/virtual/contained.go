package virtual

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// What a contained script may use. None of it changes what other scripts see.
var (
	functions = []string{
		"assert", "error", "ipairs", "next", "pairs", "pcall", "select", "tonumber", "tostring", "type", "unpack",
		"KEYS", "ARGV", // each run has its own
	}
	libraries = map[string][]string{
		"math":   {"abs", "ceil", "floor", "fmod", "huge", "max", "min", "modf", "pow", "sqrt"},
		"redis":  {"call", "error_reply", "log", "LOG_DEBUG", "LOG_NOTICE", "LOG_VERBOSE", "LOG_WARNING", "pcall", "replicate_commands", "sha1hex", "status_reply"},
		"string": {"byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "sub", "upper"},
		"table":  {"concat", "getn", "insert", "maxn", "remove", "sort"},
	}
)

// contained tells whether a script can leave nothing behind for others that the same interpreter runs: it sets no global, and
// takes from the libraries functions alone, by their names. So it has no table that others have, as long as
// no function returns one.
func contained(f *lua.FunctionProto) bool {
	for i, instruction := range f.Code {
		switch opcode(instruction) {
		case lua.OP_SETGLOBAL:
			return false
		case lua.OP_GETGLOBAL:
			name := f.Constants[instruction&(1<<18-1)].String()
			if members, ok := libraries[name]; ok {
				// What follows must put the member in the place of the library.
				next := f.Code[i+1] // at the end there is a return at least
				to, from, member := next>>18&0xff, next&0x1ff, next>>9&0x1ff
				register := instruction >> 18 & 0xff
				if opcode(next) != lua.OP_GETTABLEKS || to != register || from != register ||
					member&constant == 0 || !slices.Contains(members, f.Constants[member&^constant].String()) {
					return false
				}
			} else if !slices.Contains(functions, name) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(f.FunctionPrototypes, func(inner *lua.FunctionProto) bool { return !contained(inner) })
}

// constant marks an operand that is a constant's number and not a register's.
const constant = 1 << 8

func opcode(instruction uint32) int { return int(instruction >> 26) }

package virtual

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// What a contained script may use. None of it changes what other scripts see, nor returns what they have.
var (
	functions = []string{
		"assert", "error", "ipairs", "next", "pairs", "pcall", "select", "tonumber", "tostring", "type", "unpack",
		"KEYS", "ARGV", // each run has its own
	}
	libraries = map[string][]string{
		"math":   {"abs", "ceil", "floor", "fmod", "huge", "max", "min", "modf", "pow", "sqrt"},
		"redis":  {"acl_check_cmd", "call", "error_reply", "log", "LOG_DEBUG", "LOG_NOTICE", "LOG_VERBOSE", "LOG_WARNING", "pcall", "replicate_commands", "sha1hex", "status_reply"},
		"string": {"byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "sub", "upper"},
		"table":  {"concat", "insert", "maxn", "remove", "sort"},
	}
)

// contained tells whether a script can leave nothing behind for others that the same interpreter runs: it sets no
// global, and takes members of libraries, by their names, but never a library itself.
func contained(f *lua.FunctionProto) bool {
	for i, in := range f.Code {
		switch opcode(in) {
		case lua.OP_SETGLOBAL:
			return false
		case lua.OP_GETGLOBAL:
			name := f.Constants[in&(1<<18-1)].String()
			if members, ok := libraries[name]; ok {
				if member, ok := memberOf(f, i); !ok || !slices.Contains(members, member) {
					return false
				}
			} else if !slices.Contains(functions, name) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(f.FunctionPrototypes, func(inner *lua.FunctionProto) bool { return !contained(inner) })
}

// memberOf is which member takes the place of the library that the instruction at i loads.
func memberOf(f *lua.FunctionProto, i int) (name string, ok bool) {
	library := register(f.Code[i])
	next := f.Code[i+1] // behind it there is a return at least
	name, spare := "", -1
	if opcode(next) == lua.OP_LOADK { // the name is in a register
		name, spare = f.Constants[next&(1<<18-1)].String(), register(next)
		next = f.Code[i+2]
	}
	from, key := int(next&0x1ff), int(next>>9&0x1ff)
	if opcode(next) != lua.OP_GETTABLEKS || register(next) != library || from != library {
		return "", false
	}
	if key&isConstant != 0 {
		return f.Constants[key&^isConstant].String(), true
	}
	return name, key == spare
}

// isConstant marks an operand that is the number of a constant and not of a register.
const isConstant = 1 << 8

func opcode(in uint32) int   { return int(in >> 26) }
func register(in uint32) int { return int(in >> 18 & 0xff) }

package redistest

import (
	"slices"
	"strings"
)

// A command is matched as the strings of its request, the name in upper case:
// {"SET", "k", "v"}. Scripts of this library go by {"EVALSHA", sha, numkeys,
// keys..., args...}, and once by EVAL when the server answered NOSCRIPT.

// Command matches the commands with one of the names.
func Command(names ...string) func(cmd []string) bool {
	return func(cmd []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, cmd[0]) })
	}
}

// Script matches EVALSHA with the given SHA-1. It does not match the EVAL that
// follows NOSCRIPT; load the script beforehand or use [Any] where that matters.
func Script(sha string) func(cmd []string) bool {
	return func(cmd []string) bool {
		return len(cmd) > 1 && cmd[0] == "EVALSHA" && strings.EqualFold(cmd[1], sha)
	}
}

// Any matches what one of the given functions matches.
func Any(matches ...func(cmd []string) bool) func(cmd []string) bool {
	return func(cmd []string) bool {
		return slices.ContainsFunc(matches, func(match func([]string) bool) bool { return match(cmd) })
	}
}

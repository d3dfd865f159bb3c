package lock

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/lua"
)

// A glob is a pattern as in Redis: * is any text, ? any byte, [a-c] or [^a-c] one of some bytes or
// of all others, and a character after a backslash stands for itself.
//
// Only the braces of a key show where its lock's name begins, so a server can only tell which keys
// may match. Which names match is decided here, by Redis' rules.
type glob string

// newGlob refuses a pattern that Redis reads differently from how it is written.
func newGlob(pattern string) (glob, error) {
	switch {
	case pattern == "":
		return "*", nil
	case len(pattern) > lua.MaxNameLength:
		return "", fmt.Errorf("the pattern is %d bytes long, the limit is %d, as for names", len(pattern), lua.MaxNameLength)
	case !utf8.ValidString(pattern):
		return "", fmt.Errorf("the pattern %q is not valid UTF-8", pattern)
	}
	for rest := pattern; rest != ""; {
		var err error
		if _, rest, err = one(rest, 0); err != nil {
			return "", fmt.Errorf("the pattern %q %w", pattern, err)
		}
	}
	return glob(pattern), nil
}

// match reports whether all of s matches. On a mismatch only the last star that was passed is tried
// again, so that it takes no more than len(g) * len(s) steps.
func (g glob) match(s string) bool {
	p := string(g)
	var star, from string
	starred := false
	for s != "" || p != "" {
		if p != "" && p[0] == '*' {
			p = p[1:]
			star, from, starred = p, s, true
			continue
		}
		if p != "" && s != "" {
			if ok, rest, _ := one(p, s[0]); ok {
				p, s = rest, s[1:]
				continue
			}
		}
		if !starred || from == "" {
			return false
		}
		from = from[1:]
		p, s = star, from
	}
	return true
}

// one reports whether c matches the first element of pattern, and returns the rest.
func one(pattern string, c byte) (ok bool, rest string, err error) {
	switch pattern[0] {
	case '*', '?':
		return true, pattern[1:], nil
	case '[':
		return class(pattern[1:], c)
	case '\\':
		if pattern = pattern[1:]; pattern == "" {
			return false, "", errors.New("ends with a backslash")
		}
	}
	return pattern[0] == c, pattern[1:], nil
}

// class reports whether c is one of the bytes in brackets. A dash stands for the range between two
// bytes, whatever they are, or for itself at the end of the pattern, where the class is not closed.
func class(pattern string, c byte) (ok bool, rest string, err error) {
	pattern, not := strings.CutPrefix(pattern, "^")
	for pattern != "" {
		switch {
		case pattern[0] == ']':
			return ok != not, pattern[1:], nil
		case pattern[0] == '\\' && len(pattern) >= 2:
			ok = ok || pattern[1] == c
			pattern = pattern[2:]
		case len(pattern) >= 3 && pattern[1] == '-':
			ok = ok || min(pattern[0], pattern[2]) <= c && c <= max(pattern[0], pattern[2])
			pattern = pattern[3:]
		default:
			ok = ok || pattern[0] == c
			pattern = pattern[1:]
		}
	}
	return false, "", errors.New("has a [ without its ]")
}

// literally is a pattern that only s matches.
func literally(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

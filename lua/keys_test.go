package lua

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestNameIsTheHashTag(t *testing.T) {
	for _, c := range []struct{ prefix, name, key string }{
		{"lock", "orders:42", "lock:{orders:42}"},
		{"lock", " ", "lock:{ }"},
		{"lock", "ключ\x00\n", "lock:{ключ\x00\n}"},
		{"eu:lock", "orders", "eu:lock:{orders}"},
		{"lock", "{orders}:42", "lock:{orders}:42"}, // tags of one's own are used as they are
		{"lock", "eu:{orders}", "lock:eu:{orders}"},
		{"lock", "{a}{b}", "lock:{a}{b}"},
		{"{eu}", "orders", "{eu}:orders"},
		{"lock", "{orders", "lock:{{orders}"}, // the tag is "{orders"
		{"lock", strings.Repeat("n", MaxNameLength), "lock:{" + strings.Repeat("n", MaxNameLength) + "}"},
	} {
		keys, err := NewKeys(c.prefix, c.name)
		require.NoError(t, err)
		require.Equal(t, Keys{Lock: c.key}, keys)
		require.Equal(t, []string{
			c.key + ":token", c.key + ":void", c.key + ":queue", c.key + ":waiters", c.key + ":note", c.key + ":readers",
			c.key + ":permits", c.key + ":slots", c.key + ":free", c.key + ":channel",
		}, []string{
			keys.Token(), keys.Void(), keys.Queue(), keys.Waiters(), keys.Note(), keys.Readers(),
			keys.Permits(), keys.Slots(), keys.Free(), keys.Channel(),
		})
	}
	require.Equal(t, "eu:channel:", ClientChannels("eu"))
}

func TestNamesThatMakeNoKeysAreRefused(t *testing.T) {
	for _, c := range []struct{ prefix, name, says string }{
		{"lock", "", "name of a lock is empty"},
		{"", "orders", "key prefix is empty"},
		{"lock", strings.Repeat("n", MaxNameLength+1), "1025 bytes long, the limit is 1024"},
		{"lock", "}", "no hash tag"},
		{"lock", "{b}:token", `must not end with ":token"`}, // of the lock {b}
		{"lock", "{b}:waiters", `another lock keeps its waiters there`},
		{"{eu}", "queue", `must not end with ":queue"`},
		{"{}", "orders", "no hash tag"},
	} {
		_, err := NewKeys(c.prefix, c.name)
		require.ErrorContains(t, err, c.says, "%q %q", c.prefix, c.name)
	}
}

func TestAllKeysOfALockShareASlot(t *testing.T) {
	c := redistest.Start(t, "--cluster-enabled", "yes").Client(t)
	for _, prefix := range []string{"lock", "a{b", "a}b", "{eu}", "a{}b"} {
		for _, name := range []string{"orders", "{orders}", "a{b}c{d}", "{", "{{", "}{", "{}", "}", "}}x{y}", "a:b", "{}{x}", "ü{ü}", "x{", "x}y"} {
			keys, err := NewKeys(prefix, name)
			if err != nil {
				continue
			}
			slot := c.ClusterKeySlot(t.Context(), keys.Lock).Val()
			for _, key := range []string{keys.Token(), keys.Void(), keys.Queue(), keys.Waiters(), keys.Note(), keys.Readers(), keys.Permits(), keys.Slots(), keys.Free()} {
				require.Equal(t, slot, c.ClusterKeySlot(t.Context(), key).Val(), "%s and %s", key, keys.Lock)
			}
		}
	}
}

func TestDifferentNamesHaveDifferentKeys(t *testing.T) {
	of := make(map[string]string)
	for _, name := range []string{"a", "a:token", "a:queue", "{b}", "{b}:token", "a}", "{a", "a b", "A"} {
		keys, err := NewKeys("lock", name)
		if err != nil {
			continue
		}
		for _, key := range []string{keys.Lock, keys.Token(), keys.Void(), keys.Queue(), keys.Waiters(), keys.Note(), keys.Readers(), keys.Permits(), keys.Slots(), keys.Free()} {
			require.Empty(t, of[key], "%s, of %q", key, name)
			of[key] = name
		}
	}
}

// One file builds all names: whoever changes the layout changes it once.
func TestKeyNamesAreBuiltInOneFile(t *testing.T) {
	suffix := regexp.MustCompile(`:(token|void|queue|waiters|channel)\b`)
	found := 0
	for _, layer := range []string{"lua", "redlock", "watchdog", "waiter", "lock", "reentrant", "fair"} {
		files, err := filepath.Glob("../" + layer + "/*.go")
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(parsed, func(n ast.Node) bool {
				if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING && suffix.MatchString(s.Value) {
					found++
					require.Equal(t, "../lua/keys.go", file, s.Value)
				}
				return true
			})
		}
	}
	require.Positive(t, found)
}

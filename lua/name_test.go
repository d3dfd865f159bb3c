package lua

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNameIsFoundAgainInItsKeys(t *testing.T) {
	for _, test := range []struct{ prefix, name string }{
		{"lock", "orders:42"},
		{"lock", "{orders}:42"},
		{"lock", "orders:{42}:items"},
		{"lock", "{user}:{42}"},
		{"lock", "{a}{b}"},
		{"lock", "{a}}"},
		{"lock", "a:queue"},
		{"lock", "a:token"},
		{"lock", "two\nlines*?[\\"},
		{"{app}", "orders"},
		{"lock", "a{b"},
		{"lock", "{a"},
		{"{app}", "{orders}"},
		{"{app}", "{a{b}"},
		{"app:{eu}:lock", "orders"},
		{"l*ck", "or:ders"},
	} {
		keys, err := NewKeys(test.prefix, test.name)
		require.NoError(t, err, test)
		for _, key := range []string{keys.Lock, keys.Queue()} {
			name, ok := NameOf(test.prefix, key)
			require.True(t, ok, key)
			require.Equal(t, test.name, name, key)
		}
		for _, key := range []string{keys.Token(), keys.Void(), keys.Waiters(), keys.Note()} {
			_, ok := NameOf(test.prefix, key)
			require.False(t, ok, key)
		}
	}
}

func TestNameInBracesIsTheNameWithout(t *testing.T) {
	for _, name := range []string{"orders", "a{b", "{a", "a{{b"} {
		keys, err := NewKeys("lock", "{"+name+"}")
		require.NoError(t, err)
		found, ok := NameOf("lock", keys.Lock)
		require.True(t, ok)
		require.Equal(t, name, found)
	}
}

// A closing brace inside leaves open which of the braces NewKeys has added: such a name is what the key has.
func TestNameWithAClosingBraceStandsAsInItsKey(t *testing.T) {
	for _, name := range []string{"a}b", "{}", "a{}b{c}", "a}:{b"} {
		for _, name := range []string{name, "{" + name + "}"} {
			keys, err := NewKeys("lock", name)
			require.NoError(t, err)
			found, ok := NameOf("lock", keys.Lock)
			require.True(t, ok)
			require.Equal(t, keys.Lock, "lock:"+found)
		}
	}
}

// So whoever orders locks by these names has one place for each key. That needs no prefix: names that make one
// key with some prefix make one key with a plain one.
func TestAKeyHasOneName(t *testing.T) {
	names := []string{""}
	for i := 0; i < len(names); i++ {
		if len(names[i]) == 7 {
			break
		}
		for _, c := range "a{}" {
			names = append(names, names[i]+string(c))
		}
	}
	for _, prefix := range []string{"lock", "{app}", "a{", "a}", "{}"} {
		found := make(map[string]string) // key by name
		plain := make(map[string]string) // name with a plain prefix by key
		for _, name := range names {
			keys, err := NewKeys(prefix, name)
			if err != nil {
				continue
			}
			one, ok := NameOf(prefix, keys.Lock)
			require.True(t, ok, name)
			same, err := NewKeys(prefix, one)
			require.NoError(t, err, name)
			require.Equal(t, keys.Lock, same.Lock, name)
			other, twice := found[one]
			require.False(t, twice && other != keys.Lock, "%s and %s have the name %s", other, keys.Lock, one)
			found[one] = keys.Lock

			if with, err := NewKeys("lock", name); err == nil {
				name, _ = NameOf("lock", with.Lock)
			}
			before, twice := plain[keys.Lock]
			require.False(t, twice && before != name, "%s is the key of %s and %s", keys.Lock, before, name)
			plain[keys.Lock] = name
		}
	}
}

func TestKeysOfOthersHaveNoName(t *testing.T) {
	for _, key := range []string{"", "lock", "lock:", "lock:{}", "lock:orders", "lock:orders:queue", "clock:{orders}", "lock:{orders}:queue:queue"} {
		_, ok := NameOf("lock", key)
		require.False(t, ok, key)
	}
}

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
		{"{app}", "{orders}"},
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
	keys, err := NewKeys("lock", "{orders}")
	require.NoError(t, err)
	name, ok := NameOf("lock", keys.Lock)
	require.True(t, ok)
	require.Equal(t, "orders", name)
}

func TestKeysOfOthersHaveNoName(t *testing.T) {
	for _, key := range []string{"", "lock", "lock:", "lock:{}", "lock:orders", "lock:orders:queue", "clock:{orders}", "lock:{orders}:queue:queue"} {
		_, ok := NameOf("lock", key)
		require.False(t, ok, key)
	}
}

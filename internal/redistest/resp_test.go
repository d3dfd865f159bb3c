package redistest

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFramesEndWhereTheyShould(t *testing.T) {
	for _, raw := range []string{
		"+OK\r\n", "-ERR no\r\n", ":-7\r\n", "_\r\n", ",1.5\r\n", "#t\r\n", "(12345678901234567890\r\n",
		"$0\r\n\r\n", "$-1\r\n", "$4\r\na\r\nb\r\n", "=7\r\ntxt:a\r\n\r\n", "!2\r\nno\r\n",
		"*0\r\n", "*-1\r\n", "*2\r\n*1\r\n:1\r\n$1\r\na\r\n", "~1\r\n+a\r\n", ">2\r\n+message\r\n$1\r\na\r\n",
		"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n:2\r\n", "|1\r\n+ttl\r\n:3\r\n+value\r\n",
		"set k v\r\n", "\r\n",
	} {
		r := bufio.NewReader(strings.NewReader(raw + "+next\r\n"))
		f, err := readFrame(r)
		require.NoError(t, err, "%q", raw)
		require.Equal(t, raw, string(f.raw))
		f, err = readFrame(r)
		require.NoError(t, err, "%q", raw)
		require.Equal(t, "next", f.text, "after %q", raw)
	}
}

func TestRequestsAreReadAsCommands(t *testing.T) {
	for raw, cmd := range map[string][]string{
		string(appendCommand(nil, "set", "k", "a b\r\n")): {"SET", "k", "a b\r\n"},
		"set  k\tv\r\n": {"SET", "k", "v"},
		"\r\n":          {},
		"*0\r\n":        {},
	} {
		f, err := readFrame(bufio.NewReader(strings.NewReader(raw)))
		require.NoError(t, err)
		require.Equal(t, cmd, f.command())
	}
}

func TestMalformedFramesAreErrors(t *testing.T) {
	for _, raw := range []string{"", "+OK", "$x\r\n", "*x\r\n", "$3\r\nab", "*2\r\n:1\r\n"} {
		_, err := readFrame(bufio.NewReader(strings.NewReader(raw)))
		require.Error(t, err, "%q", raw)
	}
}

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// told is what a report prints of events.
func told(t *testing.T, events ...event) (string, error) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out, 2)
	for _, e := range events {
		line, err := json.Marshal(e) // as `go test -json` prints it
		require.NoError(t, err)
		var read event
		require.NoError(t, json.Unmarshal(line, &read))
		r.take(&read, "")
	}
	return out.String(), r.verdict()
}

func TestAPackageThatPassedIsOneLine(t *testing.T) {
	out, err := told(t,
		event{Action: "run", Package: module + "lua", Test: "TestA"},
		event{Action: "output", Package: module + "lua", Test: "TestA", Output: "much ado\n"},
		event{Action: "output", Package: module + "lua", Output: "redis: about nothing\n"},
		event{Action: "pass", Package: module + "lua", Test: "TestA", Elapsed: 1},
		event{Action: "pass", Package: module + "lua", Elapsed: 2},
	)
	require.NoError(t, err)
	require.Regexp(t, `^ +0s   1 of 2  ok +lua +2\.0 s +1 tests$`, strings.TrimSuffix(out, "\n"))
}

func TestWhatFailedIsShownAndNothingElse(t *testing.T) {
	out, err := told(t,
		event{Action: "output", Package: module + "lua", Test: "TestA", Output: "=== RUN   TestA\n"},
		event{Action: "output", Package: module + "lua", Test: "TestA", Output: "the reason\n"},
		event{Action: "output", Package: module + "lua", Test: "TestB", Output: "no reason\n"},
		event{Action: "output", Package: module + "lock", Test: "TestA", Output: "of another package\n"},
		event{Action: "pass", Package: module + "lua", Test: "TestB"},
		event{Action: "fail", Package: module + "lua", Test: "TestA"},
		event{Action: "fail", Package: module + "lua"},
	)
	require.ErrorContains(t, err, ": lua TestA")
	require.Contains(t, out, "    the reason\n")
	require.NotContains(t, out, "=== RUN")
	require.NotContains(t, out, "no reason")
	require.NotContains(t, out, "another package")
	require.Regexp(t, `1 of 2  FAIL  lua `, out)
}

func TestWhatDoesNotCompileIsAFailure(t *testing.T) {
	out, err := told(t,
		event{Action: "build-output", ImportPath: module + "lua [" + module + "lua.test]", Output: "undefined: x\n"},
		event{Action: "build-fail", ImportPath: module + "lua [" + module + "lua.test]"},
		event{Action: "fail", Package: module + "lua"},
	)
	require.ErrorContains(t, err, ": lua")
	require.Contains(t, out, "undefined: x")
}

func TestPackageThatIsTestedTwiceIsToldTwice(t *testing.T) {
	var out strings.Builder
	r := newReport(&out, 2)
	r.take(&event{Action: "run", Package: module + "fair", Test: "TestA"}, "")
	r.take(&event{Action: "run", Package: module + "fair", Test: "TestA"}, " (rules)")
	r.take(&event{Action: "fail", Package: module + "fair", Test: "TestA"}, " (rules)")
	r.take(&event{Action: "pass", Package: module + "fair", Test: "TestA"}, "")
	r.take(&event{Action: "pass", Package: module + "fair"}, "")
	require.True(t, r.take(&event{Action: "fail", Package: module + "fair"}, " (rules)"))
	require.Regexp(t, `ok +fair +0\.0 s +1 tests`, out.String())
	require.ErrorContains(t, r.verdict(), "fair (rules) TestA")
}

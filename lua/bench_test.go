package lua_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

func acquisition(tb testing.TB) lua.Acquire {
	tb.Helper()
	keys, err := lua.NewKeys("lock", "orders:42")
	require.NoError(tb, err)
	return lua.Acquire{
		Keys: keys, Hold: "3f4c4d07-a996-3dd8-9ed2-e99b00000000:42",
		TTL: 30 * time.Second, Retention: 24 * time.Hour,
	}
}

func BenchmarkKeys(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = lua.NewKeys("lock", "orders:42")
	}
}

func BenchmarkCall(b *testing.B) {
	a := acquisition(b)
	b.ReportAllocs()
	for b.Loop() {
		_ = a.Call().Cmd(context.Background())
	}
}

func BenchmarkParseAcquired(b *testing.B) {
	for name, reply := range map[string]any{
		"granted": int64(1795215321412355),
		"refused": []any{int64(29_000), "3f4c4d07-a996-3dd8-9ed2-e99b00000000:42", "1"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = lua.ParseAcquired(reply)
			}
		})
	}
}

// What each call lays out for each round does not grow unnoticed.
func TestAllocationsOfACall(t *testing.T) {
	a := acquisition(t)
	require.LessOrEqual(t, testing.AllocsPerRun(500, func() { _ = a.Call() }), 8.0, "to lay out a call")
	p := permitCall("3f4c4d07-a996-3dd8-9ed2-e99b00000000:42p1/16", 30*time.Second)
	require.LessOrEqual(t, testing.AllocsPerRun(500, func() { _ = p.Call() }), 15.0, "to lay out one with eight keys")
	r := lua.PermitRelease{Permit: p.Permit, Hold: p.Hold}
	require.LessOrEqual(t, testing.AllocsPerRun(500, func() { _ = r.Call() }), 11.0, "to lay out its release")
	call := a.Call()
	require.LessOrEqual(t, testing.AllocsPerRun(500, func() { _ = call.Cmd(context.Background()) }), 2.0, "for each node")
	var granted any = int64(1795215321412355)
	require.Zero(t, testing.AllocsPerRun(500, func() {
		if _, err := lua.ParseAcquired(granted); err != nil {
			t.Error(err)
		}
	}), "to read a grant")
}

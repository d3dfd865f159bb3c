package lock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// Whoever is far is waited for once after each turn of this process, as long as it comes.
func TestWhoIsFarIsWaitedForAsLongAsItComes(t *testing.T) {
	const chance = 50 * time.Millisecond
	mark := func(id string) map[string]lua.FarMark {
		return map[string]lua.FarMark{"far": {ID: "far:" + id, Chance: chance}}
	}
	var r rivals
	r.told(mark("1"))
	require.Equal(t, chance, r.farthest())
	for range 3 {
		r.heard("far:7", time.Now())
		require.Zero(t, r.farthest(), "it has had its turn")
		r.won()
		require.Equal(t, chance, r.farthest(), "this process has had another one")
	}
	r.won() // without having waited for it
	require.Equal(t, chance, r.farthest())

	r.waited = true
	r.won()
	require.Zero(t, r.farthest(), "it did not come")
	r.told(mark("1"))
	require.Zero(t, r.farthest(), "and has said nothing since")
	r.told(mark("2"))
	require.Equal(t, chance, r.farthest())
	r.told(nil)
	require.Zero(t, r.farthest(), "its mark is gone")
}

// What counts is for how long a process has had the name since somebody else had it.
func TestAReignEndsWhenSomebodyElseHasHadTheName(t *testing.T) {
	ct := contest{client: &core{id: "here"}, reign: reign{since: time.Now(), holds: 3}}
	ct.behindRivals("here:7")
	require.Equal(t, 3, ct.reign.holds)
	ct.behindRivals("elsewhere:1")
	require.Zero(t, ct.reign, "its release was heard")

	p := place{contest: &ct}
	ct.reign.holds = 3
	p.saw(&denial{sure: true, holder: "here:8"})
	require.Equal(t, 3, ct.reign.holds)
	p.saw(&denial{sure: true, holder: "elsewhere:2"})
	require.Zero(t, ct.reign, "an attempt has found that it has it")
}

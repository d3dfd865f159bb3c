package lock

import (
	"strconv"
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
	require.Equal(t, 2*chance, r.farthest(), "that was too short: others may have had the name")
	r.won()
	r.told(mark("3"))
	require.Equal(t, 4*chance, r.farthest())
	r.won()
	r.heard("far:8", time.Now())
	r.won()
	r.told(mark("4"))
	require.Equal(t, chance, r.farthest(), "it has had the name")
	r.told(mark("5"))
	require.Equal(t, chance, r.farthest(), "this process has not left it yet")
	for i := range 10 {
		r.won()
		r.told(mark(strconv.Itoa(6 + i)))
	}
	require.Equal(t, maxChance, r.farthest())
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

func marked(chance time.Duration) map[string]lua.FarMark {
	return map[string]lua.FarMark{"far": {ID: "far:1", Chance: chance}}
}

// Nobody leaves the name alone for longer than that, whatever a mark says.
func TestNoMarkKeepsAProcessAwayForLong(t *testing.T) {
	var r rivals
	r.told(marked(time.Hour))
	require.Equal(t, maxChance, r.farthest())
}

// Whoever has had the name was not overtaken all the time: it counts anew.
func TestOvertakingsCountSinceAProcessLastHadTheName(t *testing.T) {
	var r rivals
	overtakes := func(hold string) bool {
		r.heard("near:1", time.Now())
		return r.overtaken(hold)
	}
	for range 3 {
		require.False(t, overtakes("near:2"))
		require.False(t, overtakes("near:3"))
		r.won()
	}
	require.False(t, overtakes("near:4"))
	require.False(t, overtakes("near:5"))
	require.True(t, overtakes("near:6"))
}

// If somebody else has come meanwhile, one that is far may yet.
func TestAMarkCountsAsLongAsOthersComeFirst(t *testing.T) {
	const chance = 50 * time.Millisecond
	for name, comes := range map[string]func(*rivals){
		"an attempt was too late": func(r *rivals) { r.overtaken("near:1") },
		"a release was heard":     func(r *rivals) { r.heard("near:1", time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			var r rivals
			r.told(marked(chance))
			r.waited = true
			comes(&r)
			r.won()
			require.Equal(t, chance, r.farthest())
		})
	}
}

// How long those that are far have had counts from the first release on, not from the last one.
func TestThoseThatAreFarAreGivenUpThoughOthersComeAllTheTime(t *testing.T) {
	const chance = 40 * time.Millisecond
	var r rivals
	r.told(marked(chance))
	start := time.Now()
	var now time.Time
	for i := range 3 { // one is near, one is far
		now = start.Add(time.Duration(i+1) * maxReign)
		r.heard("near:1", now)
	}
	require.Equal(t, chance, r.pause(now))
	now = start.Add(maxReign + 3*maxReign)
	r.heard("near:1", now)
	require.Zero(t, r.pause(now))
}

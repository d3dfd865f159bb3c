package lock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// contended is a name for which a goroutine of this process waits.
func contended() (*contest, *place) {
	c := &core{id: "here", contests: make(map[contestKey]*contest)}
	ct := c.contest(contestKey{lock: "lock:{orders}"})
	p := &place{contest: ct}
	ct.queue = append(ct.queue, p)
	return ct, p
}

// What this process has done wakes nobody a second time, unless it is news.
func TestAReleaseThatIsHeardWakesTheHead(t *testing.T) {
	far := map[string]lua.FarMark{"far": {ID: "far:1", Chance: time.Second}}
	for name, c := range map[string]struct {
		prepare func(*contest)
		hold    string
		looks   bool
	}{
		"another one's":                          {func(*contest) {}, "elsewhere:1", true},
		"its own":                                {func(*contest) {}, "here:1", false},
		"its own, of which a node knew late":     {func(ct *contest) { ct.last = &denial{holder: "here:1"} }, "here:1", true},
		"its own, while it has the name again":   {func(ct *contest) { ct.tenure = &tenure{id: "here:2"} }, "here:1", false},
		"its own, by force":                      {func(ct *contest) { ct.tenure = &tenure{id: "here:1"} }, "here:1", true},
		"one that is unknown, with one far":      {func(ct *contest) { ct.told(far) }, "", true},
		"another one's, with one far":            {func(ct *contest) { ct.told(far) }, "elsewhere:1", false},
		"another one's, during a hold":           {func(ct *contest) { ct.told(far); ct.tenure = &tenure{id: "here:2"} }, "elsewhere:1", true},
		"another one's, while others have a try": {func(ct *contest) { ct.wakeLater(time.Hour, false) }, "elsewhere:1", true},
	} {
		t.Run(name, func(t *testing.T) {
			ct, p := contended()
			c.prepare(ct)
			ct.published(c.hold)
			require.Equal(t, c.looks, p.look)
			require.Equal(t, c.looks, len(p.signal()) == 1)
			if c.looks {
				require.Nil(t, ct.later, "others have had their chance")
			}
			ct.calm()
		})
	}
}

// Whatever has made it somebody's turn is one subject. That somebody waits behind it is another: nodes that say so say
// nothing of a turn.
func TestSubjectsOfMessages(t *testing.T) {
	require.Equal(t, "own:1", subject("own:1 other:2"))
	require.Equal(t, subject("own:1 other:3"), subject("own:1 other:2"))
	require.NotEqual(t, subject("own:1 other:2"), subject("own:1 "+writerWaits))
}

package lua_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever is granted a lock is told up to which ticket those behind it are of its own client: it may serve them without
// asking, and passes nobody of another one (I7).
func TestWhoIsGrantedALockHearsHowFarItsClientStandsBehindIt(t *testing.T) {
	t.Parallel()
	own := func(n int) (ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprintf("a:%d", i+2))
		}
		return ids
	}
	for name, c := range map[string]struct {
		behind []string // with the tickets from 2 on
		limit  int64    // 0: none of its own stands right behind
	}{
		"nobody":                         {nil, 0},
		"one of another":                 {[]string{"b:1"}, 0},
		"one of another before its own":  {append([]string{"b:1"}, own(9)...), 0},
		"its own":                        {own(2), 4},
		"its own before one of another":  {append(own(2), "b:1", "a:9"), 4},
		"as many as are looked at first": {own(4), 6},
		"another right behind those":     {append(own(4), "b:1", "a:9"), 6},
		"more than that, then another":   {append(own(6), "b:1", "a:9"), 8},
		"as many as a tenure serves":     {own(128), 130},
		"one more than a tenure serves":  {own(129), 130},
		"another behind all of those":    {append(own(128), "b:1"), 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := freeze(t)
			f.run(try("holder:1"), ask("a:1", proposal(0), 1))
			for _, id := range c.behind {
				f.run(ask(id, proposal(0), 1))
			}
			f.run(release(true))
			got := f.asked("a:1", final(1), 2)
			require.Positive(t, got.Token)
			require.Equal(t, c.limit, got.Behind)
		})
	}
}

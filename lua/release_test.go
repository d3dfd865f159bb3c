package lua_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

func TestReleaseTellsWhetherTheHoldWasThere(t *testing.T) {
	acquire := lua.Acquire{Keys: orders, Hold: "client:1", TTL: time.Minute, Retention: time.Hour}
	quiet := lua.Release{Keys: orders, Hold: "client:1", Quiet: true}
	for name, c := range map[string]struct {
		release lua.Release
		want    bool
	}{
		"it is":                {lua.Release{Keys: orders, Hold: "client:1"}, true},
		"it is, and none told": {quiet, true},
		"another one is":       {lua.Release{Keys: orders, Hold: "client:2"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := freeze(t)
			f.run(acquire.Call())
			found, err := lua.ParseReleased(f.run(c.release.Call()))
			require.NoError(t, err)
			require.Equal(t, c.want, found)
		})
	}
}

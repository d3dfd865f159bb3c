package lua_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

// The uptime that a server tells is the difference of two times that are cut down to whole
// seconds.
func TestAServerMayBeASecondYoungerThanItSays(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client(t)
	up := func() int {
		found := regexp.MustCompile(`uptime_in_seconds:(\d+)`).FindStringSubmatch(client.Info(bg, "server").Val())
		require.NotNil(t, found)
		seconds, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		return seconds
	}
	redistest.Eventually(t, time.Minute, func() bool { return up() >= 2 }, "it is two seconds old")
	var before int
	var refusal error
	redistest.Eventually(t, time.Minute, func() bool { // until a second does not end in between
		before = up()
		_, refusal = lua.Acquire{
			Keys: orders, Hold: mine, TTL: ttl, Retention: kept, Guard: time.Duration(before) * time.Second,
		}.Call().Run(bg, client)
		return up() == before
	}, "it is asked twice within a second")
	require.ErrorContains(t, refusal, "RESTARTED")
	_, err := lua.Acquire{
		Keys: orders, Hold: mine, TTL: ttl, Retention: kept, Guard: time.Duration(before-1) * time.Second,
	}.Call().Run(bg, client)
	require.NoError(t, err)
}

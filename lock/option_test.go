package lock_test

import (
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// century is longer than options may set anything to.
const century = 100 * 365 * 24 * time.Hour

// Settings that no lock can work with are refused before anything is asked of a node.
func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	nowhere := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer nowhere.Close()
	for says, option := range map[string]lock.ClientOption{
		"drift factor is NaN":        lock.WithClockDrift(math.NaN(), 0),
		"drift factor is +Inf":       lock.WithClockDrift(math.Inf(1), 0),
		"drift factor is -0.01":      lock.WithClockDrift(-0.01, 0),
		"drift factor is 1,":         lock.WithClockDrift(1, 0),
		"fixed clock drift is -1ns":  lock.WithClockDrift(0, -1),
		"heartbeat of 49ms":          lock.WithWaiterHeartbeat(49 * time.Millisecond),
		"heartbeat of 0s":            lock.WithWaiterHeartbeat(0),
		"max hold is -1ns":           lock.WithMaxHold(-1),
		"node timeout is 0s":         lock.WithNodeTimeout(0),
		"token retention is 0s":      lock.WithTokenRetention(0),
		"restart guard is -1ns":      lock.WithRestartGuard(-1),
		"key prefix is empty":        lock.WithPrefix(""),
		"with the prefix \"a{}b\"":   lock.WithPrefix("a{}b"),
		"TTL of 2ms is too short":    lock.WithTTL(2 * time.Millisecond),
		"TTL of 24h0m0s is too long": lock.WithTTL(24 * time.Hour),

		// Their multiples would overflow, here or on a server.
		"heartbeat is 876000h0m0s":          lock.WithWaiterHeartbeat(century),
		"max hold is 876000h0m0s":           lock.WithMaxHold(century),
		"min hold is 876000h0m0s":           lock.WithMinHold(century),
		"the rest is 876000h0m0s":           lock.WithRest(century),
		"node timeout is 876000h0m0s":       lock.WithNodeTimeout(century),
		"token retention is 876000h0m0s":    lock.WithTokenRetention(century),
		"restart guard is 876000h0m0s":      lock.WithRestartGuard(century),
		"fixed clock drift is 876000h0m0s":  lock.WithClockDrift(0, century),
		"TTL of 876000h0m0s is too long":    lock.WithTTL(century),
		"max hold is 2562047h47m16.854775":  lock.WithMaxHold(math.MaxInt64),
		"heartbeat is 2562047h47m16.854775": lock.WithWaiterHeartbeat(math.MaxInt64),
	} {
		t.Run(says, func(t *testing.T) {
			_, err := lock.NewClient([]redis.UniversalClient{nowhere}, option)
			require.ErrorContains(t, err, says)
		})
	}
}

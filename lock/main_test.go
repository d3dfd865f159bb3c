package lock_test

import (
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	logging.Disable() // it tells of every dial that is refused
	goleak.VerifyTestMain(m)
}

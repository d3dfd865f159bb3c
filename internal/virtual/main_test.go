package virtual

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"
)

var bg = context.Background()

func TestMain(m *testing.M) {
	logging.Disable() // it tells of every dial that is refused
	goleak.VerifyTestMain(m)
}

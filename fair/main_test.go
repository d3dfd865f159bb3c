package fair_test

import (
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

var bg = context.Background()

// TestMain also is the main function of the programs that tests start: see program.
func TestMain(m *testing.M) {
	if setup, ok := os.LookupEnv(programEnv); ok {
		os.Exit(runProgram(setup, os.Stdin, os.Stdout))
	}
	logging.Disable() // it tells of every dial to a node that is down
	goleak.VerifyTestMain(m, redistest.IgnoreRedials())
}

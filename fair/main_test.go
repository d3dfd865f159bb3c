package fair_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var bg = context.Background()

// TestMain also is the main function of the programs that tests start: see program.
func TestMain(m *testing.M) {
	if setup, ok := os.LookupEnv(programEnv); ok {
		os.Exit(runProgram(setup, os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

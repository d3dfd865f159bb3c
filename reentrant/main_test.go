package reentrant_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"
)

var bg = context.Background()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

package reentrant_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

var bg = context.Background()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, redistest.IgnoreRedials()) }

package multi_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

var bg = context.Background()

func TestMain(m *testing.M) { redistest.Main(m, redistest.IgnoreRedials()) }

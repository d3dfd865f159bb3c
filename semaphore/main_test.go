package semaphore_test

import (
	"context"
	"flag"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

var bg = context.Background()

func TestMain(m *testing.M) {
	// Most of a test is waiting for servers and timers: as many at once as there are
	// processors would leave these idle. A -parallel that is given counts.
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", "4")
	}
	redistest.Main(m, redistest.IgnoreRedials())
}

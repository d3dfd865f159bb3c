package redistest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// Main is the TestMain of a package with Redis clients: the tests must leave no goroutine,
// and what go-redis logs, each dial to a node that is down, is kept back unless one fails.
func Main(m *testing.M, options ...goleak.Option) {
	goleak.VerifyTestMain(runner{m}, options...)
}

type runner struct{ m *testing.M }

func (r runner) Run() int { return Run(r.m) }

// Run is [Main] for a package that may leave goroutines.
func Run(m *testing.M) int {
	log := new(clientLog)
	redis.SetLogger(log)
	code := m.Run()
	if code != 0 {
		log.print()
	}
	return code
}

// A clientLog keeps the last lines that go-redis has logged. It is safe for concurrent use.
type clientLog struct {
	mu    sync.Mutex
	lines [100]string
	n     int
}

func (l *clientLog) Printf(_ context.Context, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines[l.n%len(l.lines)] = line
	l.n++
}

func (l *clientLog) print() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := max(0, l.n-len(l.lines)); i < l.n; i++ {
		fmt.Fprintln(os.Stderr, "go-redis:", l.lines[i%len(l.lines)])
	}
}

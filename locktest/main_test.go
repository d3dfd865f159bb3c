package locktest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

var bg = context.Background()

// within bounds what should happen soon.
const within = time.Minute

func TestMain(m *testing.M) { redistest.Main(m, redistest.IgnoreRedials()) }

// inBoth runs f in a bubble, and in real time.
func inBoth(t *testing.T, f func(t *testing.T)) {
	t.Parallel() // in real time, nodes that do not answer take their time
	t.Run("bubble", func(t *testing.T) { synctest.Test(t, f) })
	t.Run("real time", f)
}

func inBubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

// A record is a test that may fail.
type record struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	cleanups []func()
}

// recorded runs f as a test would be run, with its clean-up, and returns how it has failed.
func recorded(t *testing.T, f func(t testing.TB)) []string {
	r := &record{TB: t}
	done := make(chan struct{})
	go func() { // which FailNow ends
		defer close(done)
		f(r)
	}()
	<-done
	for len(r.cleanups) > 0 {
		last := r.cleanups[len(r.cleanups)-1]
		r.cleanups = r.cleanups[:len(r.cleanups)-1]
		last()
	}
	return r.failures
}

func (r *record) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *record) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *record) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// until polls in either time.
func until(t *testing.T, cond func() bool, what string) {
	t.Helper()
	redistest.Eventually(t, within, cond, "%s", what)
}

// A grant is what a Lock beside the test has come to.
type grant struct {
	lease *lock.Lease
	err   error
}

func lockBeside(ctx context.Context, l lock.Locker) <-chan grant {
	c := make(chan grant, 1)
	go func() {
		lease, err := l.Lock(ctx)
		c <- grant{lease, err}
	}()
	return c
}

func contains(failures []string, part string) bool {
	return len(failures) == 1 && strings.Contains(failures[0], part)
}

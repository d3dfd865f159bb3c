package redistest

import (
	"math"
	"os"
	"sync"
	"testing"
	"time"
)

const (
	pollFirst = time.Millisecond
	pollMost  = 20 * time.Millisecond
)

// patience bounds every wait, for whoever runs tests that are to fail and cannot wait for each of them as long
// as a busy machine may need.
var patience = sync.OnceValue(func() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("HOLDFAST_PATIENCE")); err == nil {
		return d
	}
	return math.MaxInt64
})

// Eventually polls cond until it holds, and ends the test with msg when it does
// not within the given time. cond runs on the caller's goroutine and at least
// once, also when within is zero.
func Eventually(t testing.TB, within time.Duration, cond func() bool, msg string, args ...any) {
	t.Helper()
	within = min(within, patience())
	if !poll(within, cond) {
		t.Fatalf("not within %v: "+msg, append([]any{within}, args...)...)
	}
}

// poll starts with a short pause, since most conditions here hold after a
// millisecond or two, and lengthens it so that a long wait costs no CPU that the
// servers need.
func poll(within time.Duration, cond func() bool) bool {
	deadline := time.Now().Add(within)
	for pause := pollFirst; ; pause = min(2*pause, pollMost) {
		if cond() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

package redistest

import (
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test that may fail or be skipped without harm.
type recorder struct {
	testing.TB
	failed, skipped bool
	text            string
}

// record runs f as the body of such a test.
func record(t *testing.T, f func(testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	r.text += fmt.Sprintf(format, args...)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = true
	r.text += fmt.Sprintf(format, args...)
	runtime.Goexit()
}

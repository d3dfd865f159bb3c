package lock_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// A logbook keeps what a client logs.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) option() lock.ClientOption {
	return lock.WithLogger(slog.New(slog.NewTextHandler(l, nil)))
}

// lines returns the records that have all of these parts.
func (l *logbook) lines(parts ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for line := range strings.Lines(l.text.String()) {
		has := true
		for _, part := range parts {
			has = has && strings.Contains(line, part)
		}
		if has {
			found = append(found, line)
		}
	}
	return found
}

// Nothing renews a fixed lease, so the end of its work changes nothing that anybody would want to know.
func TestTheEndOfTheWorkOfAFixedLeaseIsNotLogged(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		var log logbook
		l := w.lock(w.process(log.option()).mutex(lock.WithoutWatchdog()))
		parent, cancel := context.WithCancel(bg)
		l.Context(parent)
		cancel()
		awaitEnd(t, l)
		synctest.Wait()
		require.Empty(t, log.lines("not renewed any more"))
		require.Len(t, log.lines("lease lost", lock.ReasonExpired.String()), 1)
	})
}

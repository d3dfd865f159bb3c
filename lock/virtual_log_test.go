package lock_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"

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

package watchdog

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A log is what a watchdog has called, and when.
type log struct {
	mu    sync.Mutex
	calls []call
	batch int
}

type call struct {
	what  string // "renew" or "end"
	ward  *Ward
	at    time.Time
	batch int // of renewals
}

func (l *log) renew(due []*Ward) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batch++
	for _, w := range due {
		l.calls = append(l.calls, call{"renew", w, time.Now(), l.batch})
	}
}

// ward makes a ward whose end is logged.
func (l *log) ward() *Ward {
	w := &Ward{}
	w.Owner = ending(func() func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.calls = append(l.calls, call{what: "end", ward: w, at: time.Now()})
		return nil
	})
	return w
}

// ending is an owner that only ends.
type ending func() func()

func (f ending) End() func() { return f() }

// of returns what was called for a ward.
func (l *log) of(w *Ward) []call {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []call
	for _, c := range l.calls {
		if c.ward == w {
			found = append(found, c)
		}
	}
	return found
}

func (l *log) all() []call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]call(nil), l.calls...)
}

// inVirtualTime runs f with a watchdog that only logs.
func inVirtualTime(t *testing.T, f func(t *testing.T, w *Watchdog, l *log)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &log{}
		w := New(l.renew)
		defer w.Close()
		f(t, w, l)
	})
}

// in is a date.
func in(d time.Duration) time.Time { return time.Now().Add(d) }

var noTime time.Time

// requireCalls requires that exactly this was called for ward, at these times after start.
func requireCalls(t *testing.T, l *log, ward *Ward, start time.Time, what ...any) {
	t.Helper()
	var got []any
	for _, c := range l.of(ward) {
		got = append(got, c.what, c.at.Sub(start))
	}
	require.Equal(t, what, got)
}

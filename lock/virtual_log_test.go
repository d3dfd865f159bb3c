package lock_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
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

// A guardedLog is a log handler that takes an hour for each record. A handler with a mutex would keep waiting whoever asks it
// anything meanwhile; this one counts them.
type guardedLog struct {
	slog.Handler
	busy    atomic.Bool
	records atomic.Int32
	waits   atomic.Int32
}

func (g *guardedLog) Enabled(context.Context, slog.Level) bool {
	if g.busy.Load() {
		g.waits.Add(1)
	}
	return true
}

func (g *guardedLog) Handle(context.Context, slog.Record) error {
	g.busy.Store(true)
	defer g.busy.Store(false)
	g.records.Add(1)
	time.Sleep(time.Hour)
	return nil
}

// A lane logs with its mutex held, and the watchdog logs, too. Neither asks the handler whether it wants the record.
func TestNobodyWaitsToBeToldWhetherARecordIsWanted(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		t.Cleanup(func() { time.Sleep(10 * time.Hour) }) // Close does not wait for the log
		log := new(guardedLog)
		p := w.process(lock.WithLogger(slog.New(log)))
		l := w.lock(p.mutex())
		each(w.nodes, func(n *virtual.Node) { n.Silence(true) })
		_, err := reentrant.New(p.locks, "another").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		synctest.Wait()
		require.EqualValues(t, 1, log.records.Load(), "a node is down")
		lostAt(l.Context(bg), t, l)
		require.Zero(t, log.waits.Load())
		require.EqualValues(t, 1, log.records.Load())
	})
}

func TestARecordThatIsNotWantedIsNotLogged(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		var log logbook
		options := &slog.HandlerOptions{Level: slog.LevelError}
		p := w.process(lock.WithLogger(slog.New(slog.NewTextHandler(&log, options))))
		awaitEnd(t, w.lock(p.mutex(lock.WithoutWatchdog())))
		synctest.Wait()
		require.Empty(t, log.lines())
	})
}

package lock

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// maxRecords bounds the records that wait for a slow log handler.
const maxRecords = 1000

// A journal hands records to the user's log handler, on a separate goroutine while there are any.
// The handler may block, also when it is only asked whether it wants a record, and neither a loss nor a renewal
// nor a node's lane may wait for it (I2).
type journal struct {
	*slog.Logger // whose records come here

	mu      sync.Mutex
	busy    bool
	records []entry
	dropped int           // for want of room
	idle    chan struct{} // closed when all is written; nil: nobody waits for that
}

// An entry is a record and its handler.
type entry struct {
	handler slog.Handler
	record  slog.Record
}

// write hands the record to the handler, if that wants it.
func (e entry) write() {
	ctx := context.Background()
	if e.handler.Enabled(ctx, e.record.Level) {
		_ = e.handler.Handle(ctx, e.record) // as slog does
	}
}

func newJournal(l *slog.Logger) *journal {
	j := &journal{Logger: l}
	if l.Handler() != slog.DiscardHandler {
		j.Logger = slog.New(pen{j, l.Handler()})
	}
	return j
}

// A pen is the handler that writes into a journal.
type pen struct {
	journal *journal
	handler slog.Handler // the user's
}

// Enabled leaves it to [entry.write] to ask the user's handler.
func (p pen) Enabled(context.Context, slog.Level) bool { return true }

func (p pen) WithAttrs(attrs []slog.Attr) slog.Handler {
	return pen{p.journal, p.handler.WithAttrs(attrs)}
}

func (p pen) WithGroup(name string) slog.Handler { return pen{p.journal, p.handler.WithGroup(name)} }

// Handle queues the record.
func (p pen) Handle(_ context.Context, r slog.Record) error {
	j := p.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.records) == maxRecords {
		j.dropped++
		return nil
	}
	j.records = append(j.records, entry{p.handler, r.Clone()})
	if !j.busy {
		j.busy = true
		go j.write()
	}
	return nil
}

// write hands over records until none is left.
func (j *journal) write() {
	for {
		j.mu.Lock()
		records, dropped := j.records, j.dropped
		j.records, j.dropped = nil, 0
		j.busy = len(records) > 0
		if !j.busy && j.idle != nil {
			close(j.idle)
			j.idle = nil
		}
		j.mu.Unlock()
		if len(records) == 0 {
			return
		}
		for i := range records {
			records[i].write()
		}
		if dropped > 0 {
			r := slog.NewRecord(time.Now(), slog.LevelWarn, "lock: the log handler is too slow: some records were dropped", 0)
			r.Add("records", dropped)
			entry{records[0].handler, r}.write()
		}
	}
}

// close waits until everything is logged, for at most this long. A handler that blocks forever
// keeps only its goroutine.
func (j *journal) close(most time.Duration) {
	j.mu.Lock()
	if !j.busy {
		j.mu.Unlock()
		return
	}
	j.idle = make(chan struct{})
	idle := j.idle
	j.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	}
}

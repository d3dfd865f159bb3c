package lock

import (
	"log/slog"
	"sync"
)

// maxRecords bounds the losses that wait for a slow log handler.
const maxRecords = 1000

// A journal logs losses, on a goroutine of its own while there are any: the user's log
// handler may block, and neither the next loss nor a renewal must wait for it (I2).
type journal struct {
	logger  *slog.Logger
	writing sync.WaitGroup

	mu      sync.Mutex
	busy    bool
	losses  []*hold
	dropped int // for want of room
}

// lost logs that h was lost, soon.
func (j *journal) lost(h *hold) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.losses) == maxRecords {
		j.dropped++
		return
	}
	j.losses = append(j.losses, h)
	if !j.busy {
		j.busy = true
		j.writing.Add(1)
		go j.write()
	}
}

// write logs until nothing is left to log.
func (j *journal) write() {
	defer j.writing.Done()
	for {
		j.mu.Lock()
		losses, dropped := j.losses, j.dropped
		j.losses, j.dropped = nil, 0
		j.busy = len(losses) > 0
		j.mu.Unlock()
		if len(losses) == 0 {
			return
		}
		for _, h := range losses {
			j.logger.Warn("lock: lease lost", "name", h.engine.name, "hold", h.id, "reason", h.reason)
		}
		if dropped > 0 {
			j.logger.Warn("lock: more leases lost than could be logged", "leases", dropped)
		}
	}
}

// close waits until everything is logged. Nothing is lost any more.
func (j *journal) close() { j.writing.Wait() }

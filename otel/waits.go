package otelholdfast

import (
	"sync"
	"time"
)

// waits knows when the calls that wait have begun. A histogram that is told of a wait at its
// end hides those that go on.
type waits struct {
	base time.Time // immutable; what began is measured from it, as a duration is cheaper to look up

	mu    sync.Mutex
	began map[time.Duration]int // how many began then
}

func newWaits() *waits {
	return &waits{base: time.Now(), began: make(map[time.Duration]int)}
}

func (w *waits) begin(start time.Time) {
	w.mu.Lock()
	w.began[start.Sub(w.base)]++
	w.mu.Unlock()
}

func (w *waits) end(start time.Time) {
	began := start.Sub(w.base)
	w.mu.Lock()
	if w.began[began]--; w.began[began] == 0 {
		delete(w.began, began)
	}
	w.mu.Unlock()
}

// oldest is for how long the oldest one waits; 0: none does.
func (w *waits) oldest() time.Duration {
	now := time.Since(w.base)
	w.mu.Lock()
	defer w.mu.Unlock()
	first := now
	for began := range w.began {
		first = min(first, began)
	}
	return now - first
}

package fifo

import (
	"slices"
	"strings"
	"sync"
)

// A Moment tells which of two events of one recorder was first. Zero: it never came.
type Moment int64

// A Waiter is the log of one Lock.
type Waiter struct {
	Name string
	Hold string // the hold id it waits with; "": never known

	Began   Moment // its enqueue; before it nothing of it can be on a node
	Ended   Moment // its enqueue; from then on it has its place
	Granted Moment
	Left    Moment // without the lock
}

// A Recorder logs the waiters of one lock. It is safe for concurrent use; the zero value
// has no waiters.
type Recorder struct {
	mu      sync.Mutex
	last    Moment
	waiters []*Waiter
	settled map[string]Moment // by hold id: when it was first seen to have its place
}

// now is the next moment. Called with mu held.
func (r *Recorder) now() Moment {
	r.last++
	return r.last
}

// Begin notes that the waiter called name is about to call Lock.
func (r *Recorder) Begin(name string) *Visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &Waiter{Name: name, Began: r.now()}
	r.waiters = append(r.waiters, w)
	return &Visit{recorder: r, waiter: w}
}

// Settle notes that these holds were seen to have their places.
func (r *Recorder) Settle(holds ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.settled == nil {
		r.settled = make(map[string]Moment)
	}
	for _, hold := range holds {
		if _, known := r.settled[hold]; !known {
			r.settled[hold] = r.now()
		}
	}
}

// Settled counts the holds that were seen to have their places.
func (r *Recorder) Settled() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.settled)
}

// Waiters returns the log, in the order of the begins.
func (r *Recorder) Waiters() []Waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := make([]Waiter, len(r.waiters))
	for i, w := range r.waiters {
		log[i] = *w
		log[i].Ended = r.ended(w)
	}
	return log
}

// ended is when w's enqueue had ended. One that was never seen in the queue had its
// place when it got the lock at the latest. Called with mu held.
func (r *Recorder) ended(w *Waiter) Moment {
	if at, seen := r.settled[w.Hold]; seen && (w.Granted == 0 || at < w.Granted) {
		return at
	}
	return w.Granted
}

// Served lists the names of those who got the lock, in that order.
func (r *Recorder) Served() []string {
	log := slices.DeleteFunc(r.Waiters(), func(w Waiter) bool { return w.Granted == 0 })
	slices.SortFunc(log, func(a, b Waiter) int { return int(a.Granted - b.Granted) })
	names := make([]string, len(log))
	for i, w := range log {
		names[i] = w.Name
	}
	return names
}

// A Visit notes what becomes of one waiter.
type Visit struct {
	recorder *Recorder
	waiter   *Waiter
}

// Wait notes the hold id that the waiter stands in the queue with. It is needed for those
// only who are not granted the lock.
func (v *Visit) Wait(hold string) {
	v.recorder.mu.Lock()
	defer v.recorder.mu.Unlock()
	v.waiter.Hold = hold
}

// Grant notes that the waiter has the lock, as hold. It must be called while it has.
func (v *Visit) Grant(hold string) {
	v.recorder.mu.Lock()
	defer v.recorder.mu.Unlock()
	v.waiter.Hold, v.waiter.Granted = Waited(hold), v.recorder.now()
}

// Waited is the id with which a hold stood in the queue on the nodes: if another goroutine of its process
// passed the lock on to it, its id is that of the tenure, a dot, and the number with which its own ended.
func Waited(hold string) string {
	client, numbers, _ := strings.Cut(hold, ":")
	if _, own, passed := strings.Cut(numbers, "."); passed {
		return client + ":" + own
	}
	return hold
}

// Leave notes that the waiter gives up, or is about to be made to: it has no claim to be
// served any more.
func (v *Visit) Leave() {
	v.recorder.mu.Lock()
	defer v.recorder.mu.Unlock()
	v.waiter.Left = v.recorder.now()
}

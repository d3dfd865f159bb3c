package watchdog

import (
	"container/heap"
	"sync"
	"time"
)

// slack is how early a renewal may be called so that it shares a batch.
const slack = 2 * time.Millisecond

// A Watchdog calls wards when they are due. It is safe for concurrent use. The zero
// value is not usable; use [New].
type Watchdog struct {
	renew func([]*Ward)
	wake  chan struct{} // one slot: the earliest date has changed
	stop  chan struct{}
	done  chan struct{}
	epoch time.Time // of instants

	mu     sync.Mutex
	wards  schedule
	next   instant // what the goroutine sleeps until
	closed bool
}

// An instant is a time as the watchdog counts it. It is a third as large as a time.Time, because
// there may be a million wards. It is measured from the epoch; never is no time at all.
type instant time.Duration

const never instant = 0

func (w *Watchdog) instant(t time.Time) instant {
	if t.IsZero() {
		return never
	}
	return max(instant(t.Sub(w.epoch)), 1)
}

func (w *Watchdog) now() instant { return w.instant(time.Now()) }

// An Owner is what a ward belongs to.
type Owner interface {
	// End is called once the end date is reached. If it returns a function, that function is called
	// after the End of every other due ward, so that no end waits for the work that follows
	// another. Like the renew callback, both run on the watchdog's goroutine and must not block.
	End() (after func())
}

// A Ward is what the watchdog watches. The zero value has no dates and is ready to use. A Ward must
// not be copied after its first use.
type Ward struct {
	// Set it before the first date.
	Owner Owner

	// Guarded by the watchdog's mu.
	renewAt instant
	endAt   instant
	index   int // index in the schedule plus one; 0: not in it
}

// due is the earlier of the two dates.
func (w *Ward) due() instant {
	if w.endAt == never || w.renewAt != never && w.renewAt < w.endAt {
		return w.renewAt
	}
	return w.endAt
}

// New starts a watchdog. It calls renew with the wards whose renewal is due; their
// renewal dates are cleared by then. renew must not block.
func New(renew func([]*Ward)) *Watchdog {
	w := &Watchdog{
		renew: renew,
		wake:  make(chan struct{}, 1),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
		epoch: time.Now().Add(-1), // the first instant is one
	}
	go w.run()
	return w
}

// Set replaces both dates of ward. A zero time is no date; with two zero times the ward is
// forgotten. After Close, Set does nothing.
func (w *Watchdog) Set(ward *Ward, renewAt, endAt time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	ward.renewAt, ward.endAt = w.instant(renewAt), w.instant(endAt)
	due := ward.due()
	switch {
	case due == never:
		if ward.index > 0 {
			heap.Remove(&w.wards, ward.index-1)
		}
		return // waking up for nothing is cheaper than finding the next date
	case ward.index > 0:
		heap.Fix(&w.wards, ward.index-1)
	default:
		heap.Push(&w.wards, ward)
	}
	if w.next == never || due < w.next {
		w.next = due
		select {
		case w.wake <- struct{}{}:
		default: // it is about to look anyway
		}
	}
}

// Forget clears both dates of ward. It does not wait for a callback that has begun.
func (w *Watchdog) Forget(ward *Ward) {
	w.Set(ward, time.Time{}, time.Time{})
}

// Close ends the watchdog and waits for its goroutine. No callback runs afterwards.
func (w *Watchdog) Close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		w.wards = nil
		close(w.stop)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *Watchdog) run() {
	defer close(w.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-timer.C:
		case <-w.wake:
		}
		ended, due, next := w.collect(w.now())
		// Ends come first: a holder must learn of its loss in time, whatever else is due.
		var afters []func()
		for _, ward := range ended {
			if after := ward.Owner.End(); after != nil {
				afters = append(afters, after)
			}
		}
		if len(due) > 0 {
			w.renew(due)
		}
		for _, after := range afters {
			after()
		}
		if next == never {
			timer.Stop()
		} else {
			timer.Reset(time.Duration(next - w.now()))
		}
	}
}

// collect removes the wards that are due and returns when to look again.
func (w *Watchdog) collect(now instant) (ended, due []*Ward, next instant) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.wards) > 0 {
		ward := w.wards[0]
		if ward.endAt != never && ward.endAt <= now {
			heap.Pop(&w.wards)
			ward.renewAt, ward.endAt = never, never
			ended = append(ended, ward)
			continue
		}
		if ward.renewAt == never || ward.renewAt > now+instant(slack) {
			break
		}
		ward.renewAt = never
		due = append(due, ward)
		if ward.endAt == never {
			heap.Pop(&w.wards)
		} else {
			heap.Fix(&w.wards, 0)
		}
	}
	if len(w.wards) > 0 {
		next = w.wards[0].due()
	}
	// A ward that is set and forgotten again must not wake the goroutine each time. So the earlier
	// date stays, even if nothing is due then.
	if w.next > now && (next == never || w.next < next) {
		next = w.next
	}
	w.next = next
	return ended, due, next
}

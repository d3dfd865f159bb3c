package lock

import "time"

// End implements [watchdog.Owner].
func (t *tenure) End() (after func()) {
	t.mu.Lock()
	t.dates = dates{} // the ward has none now
	t.mu.Unlock()
	return t.expire()
}

// expire ends the leases whose deadline has passed, and returns what must be done then. It runs on
// the watchdog's goroutine, or on the goroutine of a caller that looked at a lease first.
func (t *tenure) expire() (after func()) {
	now := time.Now()
	t.mu.Lock()
	var over []*Lease
	for l := range t.leases() {
		if !now.Before(l.deadline) {
			over = append(over, l)
		}
	}
	reason := ReasonNone
	var lost []*hold
	for _, l := range over {
		reason = l.lapsed()
		l.end(reason)
		if h := l.hold; len(h.leases) == 0 {
			h.over, h.reason = reason.end(), reason
			lost = append(lost, h)
		}
	}
	for _, h := range lost {
		t.leave(h)
	}
	ended := len(lost) > 0 && len(t.present) == 0
	if ended {
		t.lost(reason)
	} else {
		t.schedule()
	}
	reader := t.readsOn(over)
	t.mu.Unlock()
	for _, l := range over {
		l.cancel()
	}
	switch {
	case ended:
		return func() { t.abandon(lost) }
	case reader != nil || len(lost) > 0: // others continue within the tenure
		return func() {
			if reader != nil && reader.readOn() {
				t.renewNow() // which tells the nodes
			}
			t.engine.client.allLost(lost)
		}
	}
	return nil
}

// lose ends the tenure and every lease of the hold in progress: the hold is gone, or cannot be
// proven to be there.
func (t *tenure) lose(reason Reason) {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return
	}
	over, lost := t.endAll(reason)
	t.lost(reason)
	t.mu.Unlock()
	for _, l := range over {
		l.cancel()
	}
	t.abandon(lost)
}

// endAll ends the holds in progress with all their leases, and returns both. Called with mu held.
func (t *tenure) endAll(reason Reason) (over []*Lease, ended []*hold) {
	for l := range t.leases() {
		over = append(over, l)
	}
	ended = append(ended, t.present...)
	t.present = nil
	for _, h := range ended {
		h.leases = nil
		h.over, h.reason = reason.end(), reason
	}
	for _, l := range over {
		l.end(reason)
	}
	return over, ended
}

// lost records that the tenure is over, and with it its holds. Called with mu held.
func (t *tenure) lost(reason Reason) {
	if t.ended {
		return
	}
	t.stop(reason)
	t.schedule()
}

// abandon cleans up after a loss, with the loss of the holds that were in progress. It gives back
// the remaining keys, so that others need not wait for the TTL, unless a rest is set.
func (t *tenure) abandon(lost []*hold) {
	c := t.engine.client
	if rest := t.rests(); rest > 0 {
		c.group.Vote(t.keeping(rest))
	} else {
		t.vacate(false)
	}
	c.allLost(lost)
	c.over(t, nil) // Close may go on from here
}

// allLost reports lost holds to the log and the observers.
func (c *core) allLost(holds []*hold) {
	for _, h := range holds {
		c.lost(h, h.reason)
	}
}

func (c *core) lost(h *hold, reason Reason) {
	c.journal.lost(h, reason)
	c.audience.lost(h, reason)
	c.tasks.end(h)
}

// Err is nil while the lease is held; then it is a [*LeaseError], always the same one, that
// wraps [ErrLost] or [ErrReleased] and has the reason. It looks at the clock: a process that
// was paused learns of its loss from its first call. While the lease is held it costs no
// memory.
func (l *Lease) Err() error {
	if l.hold == nil {
		return ErrNotHeld
	}
	h := l.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.reason == ReasonNone && !time.Now().Before(l.deadline) {
		h.mu.Unlock()
		if after := h.expire(); after != nil {
			after()
		}
		h.mu.Lock()
	}
	return l.failure()
}

// lose ends the tenure if the hold is in progress. It returns why the hold is over: if it was
// released before, its absence is not a loss.
func (h *hold) lose(reason Reason) Reason {
	h.mu.Lock()
	over := h.over != nil
	h.mu.Unlock()
	if !over {
		h.tenure.lose(reason)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over == nil { // it has ended at this very moment, and the tenure went on without it
		return reason
	}
	return h.reason
}

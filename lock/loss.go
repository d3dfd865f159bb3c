package lock

import "time"

// End implements [watchdog.Owner].
func (t *tenure) End() (after func()) {
	t.mu.Lock()
	t.dates = dates{} // the ward has none now
	t.mu.Unlock()
	return t.expire()
}

// expire ends the leases whose deadline has passed, and returns what is to be done
// then. It runs on the watchdog's goroutine, or on that of a caller who looked at a
// lease first.
func (t *tenure) expire() (after func()) {
	now := time.Now()
	t.mu.Lock()
	var over []*Lease
	for _, l := range t.leases() {
		if !now.Before(l.deadline) {
			over = append(over, l)
		}
	}
	reason := ReasonNone
	for _, l := range over {
		reason = l.lapsed()
		l.end(reason)
	}
	h := t.hold
	if len(over) > 0 && len(h.leases) == 0 {
		t.lost(reason)
	} else {
		t.schedule()
	}
	lost := len(over) > 0 && h.over != nil
	t.mu.Unlock()
	for _, l := range over {
		l.cancel()
	}
	if lost {
		return func() { t.abandon(h) }
	}
	return nil
}

// lose ends the tenure and every lease of the hold in progress: it is not, or cannot be proven
// to be, held any more.
func (t *tenure) lose(reason Reason) {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return
	}
	h := t.hold
	over := t.leases()
	if h != nil {
		h.leases = nil
	}
	for _, l := range over {
		l.end(reason)
	}
	t.lost(reason)
	t.mu.Unlock()
	for _, l := range over {
		l.cancel()
	}
	t.abandon(h)
}

// lost notes that the tenure is over, and with it the hold in progress. Called with mu held.
func (t *tenure) lost(reason Reason) {
	if t.ended {
		return
	}
	t.ended, t.reason = true, reason
	if h := t.hold; h != nil {
		h.over, h.reason = reason.end(), reason
	}
	t.schedule()
}

// abandon cleans up after a loss, of h if that was in progress: what is left of the keys is
// given back, so that others need not wait for the TTL, unless they are to.
func (t *tenure) abandon(h *hold) {
	c := t.engine.client
	if rest := t.rests(); rest > 0 {
		c.group.Vote(t.keeping(rest))
	} else {
		t.vacate(false)
	}
	c.over(t, nil)
	if h != nil {
		c.journal.lost(h, h.reason)
	}
}

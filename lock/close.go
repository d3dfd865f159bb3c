package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// retire ends the tenure and its leases for Client.Close. It returns the holds that were in
// progress and the renewal in flight, if there are any, and false if the tenure is already over.
func (t *tenure) retire() (holds []*hold, renewing <-chan struct{}, ended bool) {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return nil, nil, false
	}
	t.ended, t.reason = true, ReasonClosed
	leases, holds := t.endAll(ReasonClosed)
	renewing = t.renewing
	t.schedule()
	t.mu.Unlock()
	for _, l := range leases {
		l.cancel()
	}
	return holds, renewing, true
}

// close releases the tenure after retire, which returned holds. patience is the time that each node
// has.
func (t *tenure) close(holds []*hold, patience time.Duration) *redlock.Ballot {
	c := t.engine.client
	for _, h := range holds {
		h.slot.clear(h)
		c.audience.lost(h, ReasonClosed)
		c.tasks.end(h)
	}
	var m redlock.Motion
	if left := t.stays(); left > 0 {
		m = t.keeping(left)
	} else {
		m = t.vacation(false, "")
	}
	m.Patience, m.Unsent = patience, 0
	b := c.group.Vote(m)
	c.over(t, nil)
	return b
}

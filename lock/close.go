package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// retire ends the tenure and its leases for Client.Close. It returns the holds that were in
// progress and the renewal in flight, if there are such, and false if it is over already.
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

// close releases the tenure after retire, which returned holds, with so much patience for each node.
func (t *tenure) close(holds []*hold, patience time.Duration) *redlock.Ballot {
	c := t.engine.client
	for _, h := range holds {
		h.slot.clear(h)
		c.audience.lost(h, ReasonClosed)
		c.tasks.end(h)
	}
	m := t.vacation(false, nil)
	if left := t.stays(); left > 0 {
		m = t.keeping(left)
	}
	m.Patience, m.Unsent = patience, 0
	b := c.group.Vote(m)
	c.over(t, nil)
	return b
}

// await waits for renewals in flight, for so long at the most: none need follow a release
// (trap 21). One that is stuck will find nothing to renew.
func await(most time.Duration, renewing ...<-chan struct{}) {
	if len(renewing) == 0 {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	for _, r := range renewing {
		select {
		case <-r:
		case <-timer.C:
			return
		}
	}
}

package lock

import (
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/watchdog"
)

// A recovery renews the holds of a client early when a node is back, which may have forgotten them:
// a renewal that a quorum confirms gives them back to it. Until then each hold depends on the
// remaining nodes, and the next of them may fail before the next regular renewal.
//
// The renewals are spread, so that those of a hundred thousand holds disturb neither the nodes nor
// other callers: by then, most are due anyway. If the machine or the nodes have no time for so
// many, the next ones wait for the previous ones, but no longer than for a silent node.
type recovery struct {
	ward watchdog.Ward

	mu      sync.Mutex
	client  *core // nil: it has not begun
	again   bool  // a node has come back since the holds were listed
	running bool

	// The watchdog's goroutine's own.
	holds []*tenure // still to be renewed
	sent  []*tenure // the last that were
	until time.Time // what these are waited for
}

const (
	// recoveryStep holds are renewed early each recoveryPause: 25,000 in a second.
	recoveryStep  = 250
	recoveryPause = 10 * time.Millisecond
)

func newRecovery() *recovery {
	r := new(recovery)
	r.ward.Owner = r
	return r
}

// begin starts the recovery for c. With a single node there is no other node to get a hold back
// from.
func (r *recovery) begin(c *core) {
	if c.group.Size() > 1 {
		r.mu.Lock()
		r.client = c
		r.mu.Unlock()
	}
}

// due records that a node is back. It does not block.
func (r *recovery) due() {
	r.mu.Lock()
	c, begins := r.client, !r.running
	if c != nil {
		r.again, r.running = true, true
		c.backs.Add(1) // before the holds are listed: one that begins later sees it
	}
	r.mu.Unlock()
	if c != nil && begins {
		c.watchdog.Set(&r.ward, time.Now(), time.Time{})
	}
}

// End implements [watchdog.Owner]: there is no such date.
func (r *recovery) End() (after func()) { return nil }

// renew continues with the holds, on the watchdog's goroutine.
func (r *recovery) renew() {
	c := r.client
	if len(r.holds) == 0 && r.listed() {
		r.holds = c.all() // without mu: a lane has its own when it calls due
	}
	if now := time.Now(); !now.Before(r.until) || !r.underWay() {
		r.sent = r.holds[:min(len(r.holds), recoveryStep)]
		r.holds = r.holds[len(r.sent):]
		r.until = now.Add(c.group.NodeTimeout())
		for _, h := range r.sent {
			h.renewNow()
		}
	}
	if r.goesOn() {
		c.watchdog.Set(&r.ward, time.Now().Add(recoveryPause), time.Time{})
	}
}

// underWay reports whether the last renewals are not decided yet.
func (r *recovery) underWay() bool {
	return slices.ContainsFunc(r.sent, (*tenure).isMending)
}

// listed is called when the holds have just been listed. It reports whether a node has come back
// since the previous listing.
func (r *recovery) listed() (again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	again, r.again = r.again, false
	return again
}

// goesOn reports whether there is more to do.
func (r *recovery) goesOn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = r.again || len(r.holds) > 0
	if !r.running {
		r.holds, r.sent = nil, nil
	}
	return r.running
}

// all returns the tenures of this client.
func (c *core) all() []*tenure {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*tenure, 0, c.held)
	for _, ct := range c.contests {
		all = slices.AppendSeq(all, ct.tenures())
	}
	return all
}

// isMending reports whether the renewal of renewNow is still to come or in progress.
func (t *tenure) isMending() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mending && !t.ended
}

// renewNow schedules the next renewal at once. A renewal in flight may have reached a node before
// that node forgot the hold, so another one follows it.
func (t *tenure) renewNow() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if t.since.IsZero() || t.renewing != nil {
		t.uneven = true // watch and decided look at it
		return
	}
	t.mending = true
	if now := time.Now(); now.Before(t.renewAt) {
		t.renewAt = now
	}
	t.schedule()
}

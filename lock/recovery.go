package lock

import (
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/watchdog"
)

// A recovery has the holds of a client renewed early when a node is back, which may have
// forgotten them: a renewal that a quorum confirms gives them back to it. Until then each hangs
// on the nodes that are left, and the next of them may go sooner than the next renewal comes.
//
// The renewals are spread, so that neither the nodes nor other callers feel those of a hundred
// thousand holds: by then, most are due anyway. Where the machine or the nodes have no time for
// so many, the next ones wait for those before, but for no longer than for a silent node.
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

// begin has it work for c. A single node has nobody to get a hold back from.
func (r *recovery) begin(c *core) {
	if c.group.Size() > 1 {
		r.mu.Lock()
		r.client = c
		r.mu.Unlock()
	}
}

// due notes that a node is back. It does not block.
func (r *recovery) due() {
	r.mu.Lock()
	c, begins := r.client, !r.running
	if c != nil {
		r.again, r.running = true, true
	}
	r.mu.Unlock()
	if c != nil && begins {
		c.watchdog.Set(&r.ward, time.Now(), time.Time{})
	}
}

// End implements [watchdog.Owner]: there is no such date.
func (r *recovery) End() (after func()) { return nil }

// renew goes on with the holds, on the watchdog's goroutine.
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

// underWay tells whether the last renewals are not decided yet.
func (r *recovery) underWay() bool {
	return slices.ContainsFunc(r.sent, (*tenure).isMending)
}

// listed notes that the holds are listed now, if a node has come back since they were.
func (r *recovery) listed() (again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	again, r.again = r.again, false
	return again
}

// goesOn tells whether there is more to do.
func (r *recovery) goesOn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = r.again || len(r.holds) > 0
	if !r.running {
		r.holds, r.sent = nil, nil
	}
	return r.running
}

// all are the tenures that this client has.
func (c *core) all() []*tenure {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*tenure, 0, c.held)
	for _, ct := range c.contests {
		if ct.tenure != nil {
			all = append(all, ct.tenure)
		}
		all = append(all, ct.reads...)
	}
	return all
}

// isMending tells whether the renewal that renewNow wants is still to come or under way.
func (t *tenure) isMending() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mending && !t.ended
}

// renewNow has the next renewal come at once. One that is in flight may have come to a node
// before that forgot the hold: another one follows it.
func (t *tenure) renewNow() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if t.renewing != nil {
		t.uneven = true
		return
	}
	t.mending = true
	if now := time.Now(); now.Before(t.renewAt) {
		t.renewAt = now
	}
	t.schedule()
}

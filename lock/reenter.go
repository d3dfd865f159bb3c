package lock

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// reenter adds a lease to a hold that the same owner has. It has the slot's turn.
func (e *Engine) reenter(ctx context.Context, h *hold) (*Lease, denial, error) {
	h.mu.Lock()
	count := len(h.leases) + 1
	over := h.over
	h.longest = max(h.longest, e.set.ttl) // a node may have it whatever the others say
	h.mu.Unlock()
	if over != nil {
		// A lock taken now would not be the one that the owner believes to be in
		// (trap 5). Its lost lease has to be unlocked first.
		return nil, denial{}, h.wrap("re-enter", over)
	}
	g := e.client.group
	b, err := g.Decide(ctx, redlock.Motion{
		Name: "re-enter",
		// Never 1, which would take a free lock: the only lease may be on its way out.
		Call: e.kind.Acquire(e.request(h.id, max(count, 2))),
		Yes:  e.granted,
	})
	if err == nil {
		err = ctx.Err()
	}
	validity := g.Validity(b.Start(), e.set.ttl)
	switch {
	case err != nil:
		h.recount()
		return nil, denial{}, contextError(ctx)
	case isGone(g, b):
		h.lose("a quorum of nodes no longer has it")
		return nil, denial{}, h.wrap("re-enter", ErrLost)
	case !b.Won():
		h.recount()
		return nil, denial{err: b.Err(), final: b.Refused()}, nil
	case !time.Now().Before(validity):
		h.recount()
		return nil, denial{err: errors.New("the re-entry took longer than it would have been valid")}, nil
	}
	h.mu.Lock()
	over = h.over
	var l *Lease
	if over == nil {
		l = h.lease(e.set, count, b.Start(), validity)
		h.schedule()
	}
	h.mu.Unlock()
	if over != nil {
		return nil, denial{}, h.wrap("re-enter", over)
	}
	return l, denial{}, nil
}

// recount states the hold's count again after a re-entry that may have raised it.
func (h *hold) recount() {
	h.mu.Lock()
	count := len(h.leases)
	over := h.over != nil
	h.mu.Unlock()
	if over || count == 0 {
		return
	}
	e := h.engine
	e.client.group.Vote(redlock.Motion{
		Name: "release",
		Call: e.kind.Release(h.request(count), true, 0),
		Yes:  e.vacated,
	})
}

package lock

import (
	"context"
	"errors"

	"github.com/holdfast-go/holdfast/redlock"
)

// release tells the nodes that one lease of the hold has ended.
func (h *hold) release(ctx context.Context) error {
	// The turn comes soon: it is never held for longer than a round.
	_ = h.slot.take(ctx)
	h.mu.Lock()
	left := len(h.leases)
	over := h.over
	var renewing <-chan struct{}
	if left == 0 && over == nil {
		h.over = ErrReleased
		renewing = h.renewing
	}
	h.schedule()
	h.mu.Unlock()

	switch {
	case over != nil:
		// Another lease's end, or Close, has released the hold meanwhile; or it was lost.
		h.slot.give()
		if errors.Is(over, ErrLost) {
			h.settle()
			return h.wrap("unlock", ErrLost)
		}
		return nil
	case left > 0:
		defer h.slot.give()
		return h.lower(left)
	}
	h.await(renewing)
	h.slot.clear(h)
	b := h.handOver(ctx)
	if missed(h.engine, b) {
		return h.wrap("unlock", ErrLost)
	}
	if err := b.Err(); err != nil {
		return h.wrap("unlock", err)
	}
	return nil
}

// settle lets the owner take the lock again once every lease of a lost hold is unlocked.
func (h *hold) settle() {
	h.mu.Lock()
	settled := h.pending == 0
	h.mu.Unlock()
	if settled {
		h.slot.clear(h)
	}
}

// lower states the hold's count after a lease has ended and others have not.
func (h *hold) lower(left int) error {
	e := h.engine
	b, _ := e.client.group.Decide(context.Background(), redlock.Motion{
		Name: "release",
		Call: e.kind.Release(h.request(left), true, 0),
		Yes:  e.lowered,
	})
	if isGone(e.client.group, b) {
		h.lose("a quorum of nodes no longer has it")
		return h.wrap("unlock", ErrLost)
	}
	// The count on the nodes is for who inspects them: the owner's own is what counts,
	// and the last unlock ends the hold whatever they have. So a missing quorum is
	// worth an error only when that one fails.
	return nil
}

// lowered reads one node's reply to a count that is stated: a node without the hold has none.
func (e *Engine) lowered(reply any) (bool, error) {
	r, err := e.kind.Released(reply)
	return r.Found, err
}

// missed tells whether, when it came to the release, so many nodes did not have the
// hold that another could have had the lock.
func missed(e *Engine, b *redlock.Ballot) bool {
	without := 0
	for i := range e.client.group.Size() {
		a := b.Answer(i)
		if a.Vote != redlock.Yes {
			continue
		}
		// No reply at all: the node never had it, and was not asked.
		if r, _ := e.kind.Released(a.Reply); !r.Found {
			without++
		}
	}
	return without > e.client.group.Size()-e.client.group.Quorum()
}

package lock

import "context"

// downgrade turns the hold, which has only leases to read left, into one that reads. Nobody else
// can write meanwhile: each node has the hold before and afterwards. Each node that has heard of
// the downgrade notifies the waiting readers.
//
// A node that has not heard of it lets nobody read until the next renewal, which repeats the
// message.
func (h *hold) downgrade(ctx context.Context) error {
	if h.isOver() {
		return nil // the last lease to read has ended meanwhile
	}
	h.slot.takeBack() // the same owner may be about to write again
	defer h.slot.give()
	c := h.engine.client
	if c.enter() != nil {
		return nil // Close releases the hold
	}
	defer c.leave()
	c.mu.Lock()
	h.mu.Lock()
	begins := h.over == nil && !h.reader && h.writes == 0 && len(h.leases) > 0 && h.contest.tenure == h.tenure
	if begins {
		h.reader = true
		h.contest.readOn(h.tenure)
	}
	ttl := h.remaining()
	h.mu.Unlock()
	c.mu.Unlock()
	if !begins {
		return nil // it writes again, has ended, or reads already
	}
	if _, err := h.extend(ctx, ttl); err != nil {
		h.renewNow()
		return h.wrap("downgrade", err)
	}
	return nil
}

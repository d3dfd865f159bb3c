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
	h.readOn() // unless the loss of another lease to write has come first
	h.mu.Lock()
	reads, ttl := h.over == nil && h.reader, h.remaining()
	h.mu.Unlock()
	if !reads {
		return nil // it writes again, or has ended
	}
	if _, err := h.extend(ctx, ttl); err != nil {
		h.renewNow()
		return h.wrap("downgrade", err)
	}
	return nil
}

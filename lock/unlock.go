package lock

import "context"

// An unlocking is what remains to be done after the end of a lease.
type unlocking uint8

const (
	unlocked   unlocking = iota // nothing
	downgrades                  // its hold continues, and only reads
	releases                    // its hold must end; the call that ends it leaves the client
)

// Unlock ends the lease; with the last lease of a hold, the lock is free. Before the last one no
// node is told, and Unlock fails only if the lease is over. There is one exception: with the last
// lease to write of an owner that still reads, all nodes are told, so Unlock takes a round trip and
// may fail with [ErrNoQuorum]. The owner reads on, and the nodes are told again with the next renewal.
//
// Unlock ignores ctx's cancellation, so that a cancelled request still gives its lock back, and takes
// no longer than a few node timeouts.
//
// If another goroutine of this process waits for the lock, it usually has the lock next, and no
// node is told. Otherwise Unlock returns nil if a quorum of nodes confirmed. The error wraps
// [ErrLost] if the lease was lost before, [ErrReleased] on a second call, and [ErrNoQuorum] if too
// few nodes confirmed. In the last case, the release is tried again in the background, and the lock
// ends when its key expires at the latest. That goes on for little more than a TTL, or longer at a node where
// a command that creates the key may still arrive; [Client.Close] ends it. The lease is over in any case.
func (l *Lease) Unlock(ctx context.Context) error {
	if l.hold == nil {
		return ErrNotHeld
	}
	ctx = endless(ctx)
	switch next, err := l.unlock(); next {
	case downgrades:
		return l.hold.downgrade(ctx)
	case releases:
		return l.hold.release(ctx)
	default:
		return err
	}
}

// unlock ends the lease in this process, and returns what must be done then.
func (l *Lease) unlock() (unlocking, error) {
	h := l.hold
	err := l.Err() // notices a deadline that has passed
	h.mu.Lock()
	again := l.unlocked
	if !again {
		l.unlocked = true
		h.pending--
	}
	settled := h.pending == 0
	if l.reason == ReasonNone {
		l.end(ReasonUnlocked)
	} else {
		err = l.failure()
	}
	// The nodes learn the count with the next renewal.
	inner := len(h.leases) > 0
	downgrade := inner && err == nil && !l.reads && h.writes == 0 && h.engine.shared != nil
	h.mu.Unlock()
	l.cancel()
	switch {
	case downgrade:
		return downgrades, nil
	case inner && err == nil:
		return unlocked, nil
	case err != nil:
		if settled && h.isOver() {
			h.slot.clear(h)
		}
		return unlocked, h.wrap("unlock", err)
	case h.engine.client.enter() != nil:
		return unlocked, h.fail("unlock", ReasonClosed) // Close releases it, or has
	}
	return releases, nil
}

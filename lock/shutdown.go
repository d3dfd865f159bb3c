package lock

import (
	"context"
	"errors"
	"fmt"
)

// Shutdown ends the client gracefully. From now on no lock is granted, and every waiting Lock ends
// with [ErrClosed]. Leases stay valid and renewed, and may be re-entered, until they are released
// or lost: Shutdown does not end their contexts, so tell work that would go on forever to stop. Once
// none is left, or when ctx ends, Shutdown calls [Client.Close].
//
// It returns nil if every lease had ended by itself. If ctx ended first, the remaining leases have
// been taken from their holders, and the error wraps ctx's error, and Close's error if there was
// one. If another goroutine's Close or Shutdown took them meanwhile, the error wraps ErrClosed. A Lock or
// TryLock that begins after Shutdown fails with ErrClosed, unless it re-enters.
func (c *Client) Shutdown(ctx context.Context) error {
	c.mu.Lock()
	c.drain()
	idle, closed := c.idle, c.closed
	c.mu.Unlock()
	var cut error
	if !closed && !isClosed(idle) {
		select {
		case <-idle:
			c.mu.Lock()
			held := c.cut
			c.mu.Unlock()
			if held > 0 { // by another goroutine
				cut = fmt.Errorf("lock: closed while %s: %w", locksHeld(held), ErrClosed)
			}
		case <-ctx.Done():
			c.mu.Lock()
			held, taken := c.held, c.cut
			c.mu.Unlock()
			switch {
			case taken > 0: // by another goroutine, at this moment
				cut = fmt.Errorf("lock: closed while %s: %w: %w", locksHeld(taken), ErrClosed, contextError(ctx))
			case held > 0:
				cut = fmt.Errorf("lock: shut down while %s: %w", locksHeld(held), contextError(ctx))
			}
		}
	}
	return errors.Join(cut, c.Close())
}

func locksHeld(n int) string {
	if n == 1 {
		return "a lock was held"
	}
	return fmt.Sprintf("%d locks were held", n)
}

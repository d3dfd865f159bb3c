package lock

import (
	"context"
	"errors"
	"fmt"
)

// Shutdown ends the client gracefully. From now on no lock is granted, and every waiting Lock ends
// with [ErrClosed]. Leases stay valid and renewed, and may be re-entered, until they are released
// or lost. Once none is left, or when ctx ends, Shutdown calls [Client.Close].
//
// It returns nil if every lease had ended by itself. If ctx ended first, the remaining leases have
// been taken from their holders, and the error wraps ctx's error, and Close's error if there was
// one. A Lock or TryLock that begins after Shutdown fails with ErrClosed.
func (c *Client) Shutdown(ctx context.Context) error {
	c.mu.Lock()
	c.drain()
	idle := c.idle
	c.mu.Unlock()
	var cut error
	if !isClosed(idle) {
		select {
		case <-idle:
		case <-ctx.Done():
			c.mu.Lock()
			held := c.held
			c.mu.Unlock()
			if held > 0 {
				cut = fmt.Errorf("lock: shut down while %d locks were held: %w", held, contextError(ctx))
			}
		}
	}
	return errors.Join(cut, c.Close())
}

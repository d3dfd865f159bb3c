package lock

import (
	"context"
	"errors"
	"fmt"
)

// Shutdown ends the client gracefully: from now on nobody is granted a lock, and every Lock
// that waits ends with [ErrClosed]; whoever has a lease goes on, renewed, and may re-enter, until
// it is released or lost. Once none is left, or when ctx ends, Shutdown calls [Client.Close].
//
// It returns nil if every lease had ended by itself. If ctx ended first, what was still held
// has been taken from its holders, and the error wraps that of ctx, and Close's if there was one.
// A Lock or TryLock that begins after Shutdown fails with [ErrClosed].
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

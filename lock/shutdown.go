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

// drain ends every wait, and grants nothing from now on. Called with mu held.
func (c *Client) drain() {
	if c.draining {
		return
	}
	c.draining = true
	close(c.closing)
	if c.held == 0 {
		close(c.idle)
	}
}

// grants tells whether a lock may still be granted.
func (c *Client) grants() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.draining
}

// taken and freed count the names that this client has. Called with mu held.
func (c *Client) taken() {
	c.held++
	c.probe.begin()
}

func (c *Client) freed() {
	if c.held--; c.held == 0 && c.draining {
		close(c.idle)
	}
}

package lock

import (
	"runtime/trace"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// sleep waits for any of these channels, or for d unless it is 0, or for a turn, including that of
// a hold of the same owner. It returns an error if the caller or the client ends.
func (c *call) sleep(wake, ready <-chan struct{}, d time.Duration) error {
	// Each channel with a waiter costs 96 bytes, so there is none for events that cannot happen.
	var change <-chan struct{}
	if c.shared && c.blocks {
		change = c.slot.change()
	}
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	if trace.IsEnabled() {
		defer c.label()()
	}
	c.handover = HandoverPoll
	select {
	case <-wake:
		c.handover = HandoverMessage
	case <-ready:
	case <-change:
	case <-over:
	case <-c.ctx.Done():
		return contextError(c.ctx)
	case <-c.engine.client.closing:
		return ErrClosed
	}
	return nil
}

// rest is sleep before another try that a message was the reason for.
func (c *call) rest(wake <-chan struct{}, d time.Duration) error {
	reason := c.handover
	err := c.sleep(wake, nil, d)
	if reason == HandoverMessage {
		c.handover = reason
	}
	return err
}

// backOff is a random, growing pause: rivals that split the votes must not meet again (trap 32).
func (c *call) backOff() time.Duration {
	if c.pause == nil {
		c.pause = backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(5*time.Millisecond),
			backoff.WithRandomizationFactor(0.9),
			backoff.WithMaxInterval(500*time.Millisecond),
			backoff.WithMaxElapsedTime(0),
		)
	}
	return c.pause.NextBackOff()
}

package redlock

import (
	"context"
	"time"
)

// A bound is a caller's context for one command that must not take longer than the node timeout,
// whatever takes so long: a read timeout does not limit a dial, for example. It ends with a channel
// that the lane closes, because a timer for each command would cost more than the rest of the
// caller's work here. The caller's own end is checked after the command, which is soon enough.
type bound struct {
	context.Context
	until time.Time
	over  <-chan struct{}
}

// Deadline implements [context.Context].
func (b *bound) Deadline() (time.Time, bool) { return b.until, true }

// Done implements [context.Context].
func (b *bound) Done() <-chan struct{} { return b.over }

// Err implements [context.Context].
func (b *bound) Err() error {
	select {
	case <-b.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

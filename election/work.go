package election

import (
	"context"

	"github.com/holdfast-go/holdfast/lock"
)

// work returns the context of a leader. It ends with the context given to Run, whose values and deadline
// it has, and with the lease: with a loss, or when the leadership is given back. The lease makes it from
// Run's context itself, so contexts made from it report the same error and cause as Run's does.
//
// The end of Run's context does not end the lease, which is renewed until the leader has returned.
func work(parent context.Context, lease *lock.Lease) context.Context {
	// A lease is renewed as long as one context of its work has not ended. This one never ends.
	_ = lease.Context(context.WithoutCancel(parent))
	return lease.Context(parent)
}

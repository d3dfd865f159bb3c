package election

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// work is the context of a leader. It ends with the context given to Run, whose values and deadline
// it has, and with the lease. But the end of Run's context does not end the lease, which is renewed
// until the leader has returned.
type work struct {
	context.Context
	parent context.Context
	ended  atomic.Bool // by parent
	unhook func() bool
	cancel context.CancelCauseFunc
}

func newWork(parent context.Context, lease *lock.Lease) *work {
	w := &work{parent: parent}
	w.Context, w.cancel = context.WithCancelCause(lease.Context(context.WithoutCancel(parent)))
	w.unhook = context.AfterFunc(parent, func() {
		w.ended.Store(w.Context.Err() == nil) // or the lease was lost before
		w.cancel(context.Cause(parent))
	})
	return w
}

// stop ends the context when the leader has returned.
func (w *work) stop() {
	w.unhook()
	w.cancel(context.Canceled)
}

// Deadline implements [context.Context].
func (w *work) Deadline() (time.Time, bool) { return w.parent.Deadline() }

// Err implements [context.Context].
func (w *work) Err() error {
	err := w.Context.Err()
	if err != nil && w.ended.Load() {
		return w.parent.Err()
	}
	return err
}

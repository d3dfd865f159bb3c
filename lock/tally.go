package lock

import (
	"math"
	"sync/atomic"
)

// A tally counts calls in progress until it is closed. Then no call begins any more, and whoever
// closed it can wait for the others. Each Lock and each Unlock of a client is counted, so counting
// takes one atomic operation at each end, and no mutex. Make one with newTally.
type tally struct {
	n    atomic.Int64  // calls in progress; once the tally is closed, sealed is added
	none chan struct{} // closed once the tally is closed and no call is in progress
}

// sealed is the count of a closed tally without calls in progress. It is so small that a closed
// tally is always negative, and an open one never.
const sealed = math.MinInt64

func newTally() tally { return tally{none: make(chan struct{})} }

// enter counts a call, unless the tally is closed. If it returns true, leave must follow.
func (t *tally) enter() bool {
	for {
		n := t.n.Load()
		if n < 0 {
			return false
		}
		if t.n.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave ends a call. After close no call enters, so only one leave can bring the count to sealed.
func (t *tally) leave() {
	if t.n.Add(-1) == sealed {
		close(t.none)
	}
}

// close refuses calls from now on. It must be called only once.
func (t *tally) close() {
	if t.n.Add(sealed) == sealed {
		close(t.none)
	}
}

// wait waits until all calls that entered before close have left.
func (t *tally) wait() { <-t.none }

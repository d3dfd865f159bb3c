package redistest

import (
	"context"
	"sync"
	"time"
)

// parcel is what travels through a lane.
type parcel struct {
	raw  []byte
	due  time.Time
	cmd  []string // requests only; empty for what expects no reply
	rule *rule    // the rule that caught the command, if any
	fate fate
	last bool // to the client: close the connection
}

// lane is one direction of a connection: a queue whose parcels leave in order and
// not before they are due. It is unbounded so that the reader in front of it never
// stalls and always sees its peer close; tests do not send enough to matter.
type lane struct {
	wake chan struct{} // capacity 1: something changed

	mu      sync.Mutex
	parcels []parcel
	closed  bool
}

func newLane() *lane { return &lane{wake: make(chan struct{}, 1)} }

// push is allowed from any goroutine; after close it does nothing.
func (l *lane) push(p parcel) {
	l.mu.Lock()
	if !l.closed {
		l.parcels = append(l.parcels, p)
	}
	l.mu.Unlock()
	l.signal()
}

// close lets pop report the end once the queue is empty.
func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
}

func (l *lane) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// pop waits for the next parcel and until it is due. It reports false at the end
// of the lane or of ctx. One goroutine at a time may call it.
func (l *lane) pop(ctx context.Context) (parcel, bool) {
	for {
		l.mu.Lock()
		if len(l.parcels) > 0 {
			p := l.parcels[0]
			l.parcels = l.parcels[1:]
			l.mu.Unlock()
			return p, waitUntil(ctx, p.due)
		}
		closed := l.closed
		l.mu.Unlock()
		if closed {
			return parcel{}, false
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return parcel{}, false
		}
	}
}

func waitUntil(ctx context.Context, due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

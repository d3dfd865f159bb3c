package virtual

import (
	"context"
	"sync"
)

// A gate is open or shut; who comes while it is shut waits. The zero value is open.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // closed when it is opened; nil: it is open
}

// set shuts the gate, or opens it.
func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case shut && g.shut == nil:
		g.shut = make(chan struct{})
	case !shut && g.shut != nil:
		close(g.shut)
		g.shut = nil
	}
}

// wait returns what closes when the gate is open; nil: it is.
func (g *gate) wait() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

func (g *gate) isShut() bool { return g.wait() != nil }

// pass waits until the gate is open, or ctx ends.
func (g *gate) pass(ctx context.Context) error {
	for {
		shut := g.wait()
		if shut == nil {
			return nil
		}
		select {
		case <-shut:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

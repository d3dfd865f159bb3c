package main

import (
	"context"
	"slices"
	"sync"
)

// inside is a lock that one process holds all the time, with a first-come mutex for its
// goroutines inside: the least that passing a name on can cost. There is no token, nobody
// learns of a loss, and other processes never have a chance.
type inside struct {
	outer locker

	mu    sync.Mutex
	names map[string]*insideLine
}

type insideLine struct {
	mu      sync.Mutex
	outer   held
	taken   bool
	waiting []chan struct{}
}

func openInside(s site) (locker, error) {
	outer, err := openHoldfast(s)
	return &inside{outer: outer, names: make(map[string]*insideLine)}, err
}

func (i *inside) close() {
	for _, l := range i.names {
		if l.outer != nil {
			_ = l.outer.unlock() // as the locker is closed next
		}
	}
	i.outer.close()
}

func (i *inside) handle(name string) handle {
	i.mu.Lock()
	defer i.mu.Unlock()
	l := i.names[name]
	if l == nil {
		l = new(insideLine)
		i.names[name] = l
	}
	return &insideHandle{i.outer.handle(name), l}
}

type insideHandle struct {
	outer handle
	line  *insideLine
}

func (h *insideHandle) lock(ctx context.Context) (held, error) {
	l := h.line
	l.mu.Lock()
	if l.taken {
		turn := make(chan struct{}, 1)
		l.waiting = append(l.waiting, turn)
		l.mu.Unlock()
		select {
		case <-turn:
		case <-ctx.Done():
			l.leave(turn)
			return nil, ctx.Err()
		}
		l.mu.Lock()
	}
	l.taken = true
	defer l.mu.Unlock()
	if l.outer == nil { // nobody can come in meanwhile
		outer, err := h.outer.lock(ctx)
		if err != nil {
			l.next()
			return nil, err
		}
		l.outer = outer
	}
	return l, nil
}

func (l *insideLine) unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next()
	return nil
}

// next lets the next one in. Called with mu held.
func (l *insideLine) next() {
	if l.taken = len(l.waiting) > 0; l.taken {
		l.waiting[0] <- struct{}{}
		l.waiting = l.waiting[1:]
	}
}

// leave gives a place up, or the turn that has just come.
func (l *insideLine) leave(turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, turn); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	l.next()
}

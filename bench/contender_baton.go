package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// baton is the least that a lock can do for the goroutines of one process: they stand in
// line for a name, and who unlocks sends the release and the next one's acquire in one
// write to each node, on its own goroutine, by the bare scripts. A quorum of replies is
// waited for and nobody looks at them. There is no client library, no other process, no
// fault and no end of a TTL.
type baton[C any] struct {
	pipes    []batonPipe[C]
	commands func(name, id string) (acquire, release C)
	quorum   int
	closing  func()
	ids      atomic.Int64

	mu    sync.Mutex
	lines map[string]*line[C]
}

// A batonPipe takes commands to one node, in order. Each answer goes where it is told.
type batonPipe[C any] interface {
	write(commands []C, answers ...chan error)
}

// A line is who wants one name.
type line[C any] struct {
	mu      sync.Mutex
	taken   bool
	waiting []*batonHandle[C]
}

func openBaton(s site) (locker, error) {
	w, err := openWire(s)
	if err != nil {
		return nil, err
	}
	b := newBaton[[]byte](w.close)
	for _, p := range w.(*wire).pipes {
		b.pipes = append(b.pipes, p)
	}
	b.commands = func(name, id string) (acquire, release []byte) {
		return resp("evalsha", bareAcquire.Hash(), "1", name, id, fmt.Sprint(s.ttl.Milliseconds())),
			resp("evalsha", bareRelease.Hash(), "1", name, id)
	}
	b.quorum = len(b.pipes)/2 + 1
	return b, nil
}

func newBaton[C any](closing func()) *baton[C] {
	return &baton[C]{lines: make(map[string]*line[C]), closing: closing}
}

func (b *baton[C]) close() { b.closing() }

func (b *baton[C]) handle(name string) handle {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[name]
	if l == nil {
		l = &line[C]{}
		b.lines[name] = l
	}
	return &batonHandle[C]{baton: b, line: l, name: name}
}

type batonHandle[C any] struct {
	*baton[C]
	line *line[C]
	name string

	acquire, release   C
	acquired, released chan error // with room for every node: stragglers come later
}

func (h *batonHandle[C]) lock(ctx context.Context) (held, error) {
	h.acquire, h.release = h.commands(h.name, fmt.Sprint("baton:", h.ids.Add(1)))
	h.acquired, h.released = make(chan error, len(h.pipes)), make(chan error, len(h.pipes))
	l := h.line
	l.mu.Lock()
	if l.taken {
		l.waiting = append(l.waiting, h)
	} else {
		l.taken = true
		h.send([]C{h.acquire}, h.acquired)
	}
	l.mu.Unlock()
	return h, h.await(ctx, h.acquired)
}

func (h *batonHandle[C]) unlock() error {
	l := h.line
	l.mu.Lock()
	if len(l.waiting) > 0 {
		next := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		h.send([]C{h.release, next.acquire}, h.released, next.acquired)
	} else {
		l.taken = false
		h.send([]C{h.release}, h.released)
	}
	l.mu.Unlock()
	return h.await(context.Background(), h.released)
}

func (h *batonHandle[C]) send(commands []C, answers ...chan error) {
	for _, p := range h.pipes {
		p.write(commands, answers...)
	}
}

// await waits for a quorum of answers, or gives up the place in the line.
func (h *batonHandle[C]) await(ctx context.Context, answers chan error) error {
	for range h.quorum {
		select {
		case err := <-answers:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return h.leave(ctx)
		}
	}
	return nil
}

func (h *batonHandle[C]) leave(ctx context.Context) error {
	l := h.line
	l.mu.Lock()
	i := slices.Index(l.waiting, h)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 { // it has been sent
		_ = h.unlock()
	}
	return ctx.Err()
}

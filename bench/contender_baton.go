package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// baton is the least that a lock can do for the goroutines of one process: they stand in
// line for a name, and who unlocks sends the release and the next one's acquire in one
// write to each node, on its own goroutine, by the bare scripts. A quorum of replies is
// waited for and nobody looks at them. There is no client library, no other process, no
// fault and no end of a TTL.
type baton struct {
	*wire
	quorum int

	mu    sync.Mutex
	lines map[string]*line
}

// A line is who wants one name.
type line struct {
	mu      sync.Mutex
	taken   bool
	waiting []*batonHandle
}

func openBaton(s site) (locker, error) {
	w, err := openWire(s)
	if err != nil {
		return nil, err
	}
	return &baton{wire: w.(*wire), quorum: len(s.addrs)/2 + 1, lines: make(map[string]*line)}, nil
}

func (b *baton) handle(name string) handle {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[name]
	if l == nil {
		l = &line{}
		b.lines[name] = l
	}
	return &batonHandle{baton: b, line: l, name: name}
}

type batonHandle struct {
	*baton
	line *line
	name string

	acquire, release   []byte
	acquired, released chan error // with room for every node: stragglers come later
}

func (h *batonHandle) lock(ctx context.Context) (held, error) {
	id := fmt.Sprint("baton:", h.ids.Add(1))
	h.acquire = resp("evalsha", bareAcquire.Hash(), "1", h.name, id, fmt.Sprint(h.ttl))
	h.release = resp("evalsha", bareRelease.Hash(), "1", h.name, id)
	h.acquired, h.released = make(chan error, len(h.pipes)), make(chan error, len(h.pipes))
	l := h.line
	l.mu.Lock()
	if l.taken {
		l.waiting = append(l.waiting, h)
	} else {
		l.taken = true
		h.send(h.acquire, h.acquired)
	}
	l.mu.Unlock()
	return h, h.await(ctx, h.acquired)
}

func (h *batonHandle) unlock() error {
	l := h.line
	l.mu.Lock()
	if len(l.waiting) > 0 {
		next := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		h.send(append(h.release, next.acquire...), h.released, next.acquired)
	} else {
		l.taken = false
		h.send(h.release, h.released)
	}
	l.mu.Unlock()
	return h.await(context.Background(), h.released)
}

func (h *batonHandle) send(commands []byte, answers ...chan error) {
	for _, p := range h.pipes {
		p.write(commands, answers...)
	}
}

// await waits for a quorum of answers, or gives up the place in the line.
func (h *batonHandle) await(ctx context.Context, answers chan error) error {
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

func (h *batonHandle) leave(ctx context.Context) error {
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

package main

import (
	"context"
	"sync"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// channel is all permits of a name, which one process has all the time, with a channel for its goroutines inside: the
// least that passing one on can cost. No permit has a token, nobody learns of a loss, and other processes never have a
// chance.
type channel struct {
	outer *holdfast

	mu    sync.Mutex
	names map[string]*channelLine
}

type channelLine struct {
	room chan struct{}

	mu    sync.Mutex
	outer held
}

func openChannel(s site) (locker, error) {
	outer, err := newHoldfast(s, func(c *lock.Client, name string) lock.Locker {
		return unowned{semaphore.New(c, name, permits).Locker(permits)}
	})
	return &channel{outer: outer, names: make(map[string]*channelLine)}, err
}

func (c *channel) close() {
	for _, l := range c.names {
		if l.outer != nil {
			_ = l.outer.unlock() // as the locker is closed next
		}
	}
	c.outer.close()
}

func (c *channel) handle(name string) handle {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.names[name]
	if l == nil {
		l = &channelLine{room: make(chan struct{}, permits)}
		c.names[name] = l
	}
	return &channelHandle{c.outer.handle(name), l}
}

type channelHandle struct {
	outer handle
	line  *channelLine
}

func (h *channelHandle) lock(ctx context.Context) (held, error) {
	l := h.line
	select {
	case l.room <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outer == nil { // nobody is in yet
		outer, err := h.outer.lock(ctx)
		if err != nil {
			<-l.room
			return nil, err
		}
		l.outer = outer
	}
	return l, nil
}

func (l *channelLine) unlock() error {
	<-l.room
	return nil
}

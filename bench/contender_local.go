package main

import (
	"context"
	"sync"
)

// localMutex is what careful users put in front of a distributed lock: a mutex of the process for
// each name, so that its goroutines do not compete at the servers.
type localMutex struct {
	locker

	mu    sync.Mutex
	names map[string]*sync.Mutex
}

// openLocal puts it in front of another contender.
func openLocal(open func(site) (locker, error)) func(site) (locker, error) {
	return func(s site) (locker, error) {
		l, err := open(s)
		return &localMutex{locker: l, names: make(map[string]*sync.Mutex)}, err
	}
}

func (l *localMutex) handle(name string) handle {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.names[name]
	if m == nil {
		m = new(sync.Mutex)
		l.names[name] = m
	}
	return &localHandle{l.locker.handle(name), m}
}

type localHandle struct {
	handle
	mutex *sync.Mutex
}

func (h *localHandle) lock(ctx context.Context) (held, error) {
	h.mutex.Lock()
	l, err := h.handle.lock(ctx)
	if err != nil {
		h.mutex.Unlock()
		return nil, err
	}
	return localHeld{l, h.mutex}, nil
}

type localHeld struct {
	held
	mutex *sync.Mutex
}

func (h localHeld) unlock() error {
	defer h.mutex.Unlock()
	return h.held.unlock()
}

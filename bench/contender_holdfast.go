package main

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// holdfast is a lock client and one of its kinds of mutex.
type holdfast struct {
	nodes []redis.UniversalClient
	locks *lock.Client
	mutex func(c *lock.Client, name string) lock.Locker
}

func openHoldfast(s site) (locker, error) {
	return newHoldfast(s, func(c *lock.Client, name string) lock.Locker { return reentrant.New(c, name) })
}

func openFair(s site) (locker, error) {
	return newHoldfast(s, func(c *lock.Client, name string) lock.Locker { return fair.New(c, name) })
}

func newHoldfast(s site, mutex func(*lock.Client, string) lock.Locker) (*holdfast, error) {
	nodes := newClients(s)
	locks, err := lock.NewClient(nodes, lock.WithTTL(s.ttl))
	if err != nil {
		closeClients(nodes)
		return nil, err
	}
	return &holdfast{nodes: nodes, locks: locks, mutex: mutex}, nil
}

func (h *holdfast) handle(name string) handle {
	return holdfastHandle{h.mutex(h.locks, name)}
}

func (h *holdfast) close() {
	_ = h.locks.Close()
	closeClients(h.nodes)
}

type holdfastHandle struct{ lock.Locker }

func (h holdfastHandle) lock(ctx context.Context) (held, error) {
	lease, err := h.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return holdfastHeld{lease}, nil
}

type holdfastHeld struct{ *lock.Lease }

func (h holdfastHeld) unlock() error { return h.Unlock(context.Background()) }

package main

import (
	"context"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// openReadWrite opens Holdfast's read-write lock.
func openReadWrite(s site) (locker, error) {
	h, err := newHoldfast(s, nil)
	if err != nil {
		return nil, err
	}
	return readWrite{h}, nil
}

type readWrite struct{ *holdfast }

func (r readWrite) handle(name string) handle {
	return readWriteHandle{readwrite.New(r.locks, name)}
}

type readWriteHandle struct{ *readwrite.Mutex }

func (h readWriteHandle) lock(ctx context.Context) (held, error) { return leased(h.Lock(ctx)) }

func (h readWriteHandle) rlock(ctx context.Context) (held, error) { return leased(h.RLock(ctx)) }

func leased(lease *lock.Lease, err error) (held, error) {
	if err != nil {
		return nil, err
	}
	return holdfastHeld{lease}, nil
}

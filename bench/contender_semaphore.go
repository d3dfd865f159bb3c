package main

import (
	"context"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// permits is how many holders a name of a semaphore has room for.
const permits = 16

// openSemaphore opens Holdfast's semaphore. Each of its holds is one permit.
func openSemaphore(s site) (locker, error) {
	return newHoldfast(s, func(c *lock.Client, name string) lock.Locker {
		return unowned{semaphore.New(c, name, permits).Locker(1)}
	})
}

// unowned are locks that are never re-entered, as Acquire's permits are not.
type unowned struct{ lock.Locker }

func (l unowned) Lock(ctx context.Context) (*lock.Lease, error) {
	return l.Locker.Lock(lock.WithoutOwner(ctx))
}

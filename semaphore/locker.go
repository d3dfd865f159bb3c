package semaphore

import (
	"context"

	"github.com/holdfast-go/holdfast/lock"
)

// Locker returns n permits as a lock, for code that takes any lock. With it, package multi takes
// permits together with other locks. Its leases are like a [Permit], without the numbers. Unlike
// Acquire, it is re-entered: an owner that has n permits by a Locker gets the same ones again. If
// that owner asks for another number of them, it is refused, because it might wait for itself. An
// invalid n is the error of each call.
func (s *Semaphore) Locker(n int) lock.Locker {
	e, err := s.of(n)
	if err != nil {
		return refusing{s.Name(), err}
	}
	return e
}

// refusing is a lock whose calls all fail.
type refusing struct {
	name string
	err  error
}

func (r refusing) Name() string { return r.name }

func (r refusing) Lock(context.Context) (*lock.Lease, error) { return nil, r.err }

func (r refusing) TryLock(context.Context) (*lock.Lease, error) { return nil, r.err }

func (r refusing) Do(context.Context, func(context.Context) error) error { return r.err }

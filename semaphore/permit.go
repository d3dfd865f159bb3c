package semaphore

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// A Permit is what Acquire returns and [Permit.Release] gives back: one permit or several that were taken
// together. It is a lease: renewed while its process lives, lost if it cannot be. It is safe for concurrent use. The
// zero value is over, with [lock.ErrNotHeld].
type Permit struct {
	held  *lock.Lease
	slots []int
}

// permit makes a Permit of what an engine returns.
func permit(l *lock.Lease, err error) (*Permit, error) {
	if err != nil {
		return nil, err
	}
	return &Permit{l, engine.SlotsOf(l)}, nil
}

func (p *Permit) lease() *lock.Lease {
	if p.held == nil {
		return new(lock.Lease)
	}
	return p.held
}

// Slots are the numbers of the permits, from 0 up to one less than there are, in ascending order. Nobody else has
// one of them until the Permit is over. Low ones are preferred, so few permits in use have low numbers.
func (p *Permit) Slots() []int { return slices.Clone(p.slots) }

// ID is the id of the hold, as it stands in Redis and as Inspect shows it; with a number behind it if the permits were passed
// on within the process, as [lock.Lease.ID] has it.
func (p *Permit) ID() string { return p.lease().ID() }

// Token is the fencing token: there is one counter for the name, and no two permits have the same token. Whoever is granted
// permits after another has been has a greater one; so has whoever gets a slot after another.
func (p *Permit) Token() int64 { return p.lease().Token() }

// Deadline is the end of validity as known now. It moves with each renewal.
func (p *Permit) Deadline() time.Time { return p.lease().Deadline() }

// Context returns a context for work under the permit: it is cancelled when that is over, with what
// [Permit.Err] returns as its cause. It carries the owner that parent carries, if any: permits are not re-entered, and
// other locks that are held are. In all else it is [lock.Lease.Context].
func (p *Permit) Context(parent context.Context) context.Context {
	return engine.WithOwnerOf(p.lease().Context(parent), parent)
}

// Done is closed once the permit is over: lost or released.
func (p *Permit) Done() <-chan struct{} { return p.lease().Done() }

// Err is nil while the permit is held; then a [*lock.LeaseError], which wraps [lock.ErrLost] or
// [lock.ErrReleased].
func (p *Permit) Err() error { return p.lease().Err() }

// Extend makes the permit valid for at least ttl from now; it never shortens it. See
// [lock.Lease.Extend].
func (p *Permit) Extend(ctx context.Context, ttl time.Duration) error {
	return p.lease().Extend(ctx, ttl)
}

// Release gives the permit back, all of it. The error wraps [lock.ErrLost] if it was lost before, and
// [lock.ErrReleased] on a second call: nothing can be given back twice. It ignores ctx's
// cancellation; see [lock.Lease.Unlock].
func (p *Permit) Release(ctx context.Context) error { return p.lease().Unlock(ctx) }

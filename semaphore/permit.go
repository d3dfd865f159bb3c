package semaphore

import (
	"context"
	"time"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// A Permit is what Acquire returns and [Permit.Release] gives back: one permit, or several that
// were taken together. It is a lease: renewed while its process lives, and lost if that fails. It
// is safe for concurrent use. The zero value is over, with [lock.ErrNotHeld].
type Permit struct{ held *lock.Lease }

// permit makes a Permit of what an engine returns.
func permit(l *lock.Lease, err error) (*Permit, error) {
	if err != nil {
		return nil, err
	}
	return &Permit{l}, nil
}

func (p *Permit) lease() *lock.Lease {
	if p.held == nil {
		return new(lock.Lease)
	}
	return p.held
}

// Slots returns the numbers of the permits, from 0 to the number of permits less one, in ascending
// order. Nobody else has one of them until the Permit is over. Low numbers are preferred, so if few
// permits are in use, their numbers are low; over several nodes, processes that ask at the same moment may get
// numbers that are higher than necessary, as each may pass over up to 63 free ones.
func (p *Permit) Slots() []int { return engine.SlotsOf(p.lease()) }

// ID is the hold id, as it stands in Redis and as Inspect shows it. If the permits were passed on
// within the process, a number follows, as in [lock.Lease.ID].
func (p *Permit) ID() string { return p.lease().ID() }

// Token is the fencing token. There is one counter for the name, and no two permits have the same
// token. A permit that gets a slot after another one has a greater token: a resource of that number can
// refuse lesser ones. Permits with different slots may be in use at once, and their tokens do not tell in
// which order they were granted.
func (p *Permit) Token() int64 { return p.lease().Token() }

// Deadline is the end of validity as known now. It moves with each renewal.
func (p *Permit) Deadline() time.Time { return p.lease().Deadline() }

// Context returns a context for work under the permit. It is cancelled when the permit is over,
// with the error of [Permit.Err] as its cause. It carries the owner that parent carries, if any:
// permits are not re-entered, but other locks of that owner are. In all else it is like
// [lock.Lease.Context].
func (p *Permit) Context(parent context.Context) context.Context {
	return engine.WithOwnerOf(p.lease().Context(parent), parent)
}

// Done is closed once the permit is over: lost or released.
func (p *Permit) Done() <-chan struct{} { return p.lease().Done() }

// Err is nil while the permit is held; then a [*lock.LeaseError], which wraps [lock.ErrLost] or
// [lock.ErrReleased].
func (p *Permit) Err() error { return p.lease().Err() }

// Extend makes the permit valid for ttl, less what is allowed for clock drift, counted from before
// the request was sent; it never shortens it. See [lock.Lease.Extend].
func (p *Permit) Extend(ctx context.Context, ttl time.Duration) error {
	return p.lease().Extend(ctx, ttl)
}

// Release gives the whole permit back. The error wraps [lock.ErrLost] if it was lost before, and
// [lock.ErrReleased] on a second call: nothing can be given back twice. It ignores ctx's
// cancellation; see [lock.Lease.Unlock].
func (p *Permit) Release(ctx context.Context) error { return p.lease().Unlock(ctx) }

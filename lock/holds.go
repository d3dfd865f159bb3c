package lock

import (
	"context"
	"slices"
	"time"
)

// Holds reports whether the work under ctx has the lock called name. That is the case if ctx comes
// from a valid lease of the lock, by [Lease.Context] or [Locker].Do, with any number of other
// leases in between, or if it carries the owner of such a lease, as with [WithOwner]. It asks no
// node. It is for code that must only run under a lock that its callers take:
//
//	if !lock.Holds(ctx, "orders:42") {
//		return errors.New("the caller must lock orders:42")
//	}
//
// It is false once the lease is over, and under [WithoutOwner]. A lease to read counts, and so does
// a permit. Holds compares names as they were given, although "{orders}" is another name of the lock called
// "orders". It does not compare clients: if two clients have different locks of one name, look at the lease that
// [FromContext] returns.
func Holds(ctx context.Context, name string) bool {
	if held, _ := ctx.Value(holdsKey{name}).(bool); held {
		return true
	}
	o, _ := ctx.Value(ownerKey{}).(*owner)
	return o != nil && o.has(name)
}

// has reports whether the owner has a valid lease of a lock called name.
func (o *owner) has(name string) bool {
	o.mu.Lock()
	slots := slices.Clone(o.slots)
	o.mu.Unlock()
	now := time.Now()
	return slices.ContainsFunc(slots, func(s *slot) bool {
		h := s.held()
		return h != nil && h.has(name, now)
	})
}

// has reports whether the hold has a lease of a lock called name that can be relied on.
func (h *hold) has(name string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.leases, func(l *Lease) bool { return l.Name() == name && l.valid(now) })
}

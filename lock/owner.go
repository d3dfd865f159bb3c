package lock

import (
	"context"
	"sync"
)

// An owner is who may re-enter. It is found by its address, inside one process.
type owner struct {
	mu    sync.Mutex
	slots []*slot // few: one for each name that it holds or wants

	// Most owners only ever have one.
	first struct {
		slot slot
		used bool
		list [1]*slot
	}
}

type ownerKey struct{}

// WithOwner starts a scope: all Locks under the context that it returns share one new
// owner, and re-enter what it holds; not what an owner of ctx holds. Without it, each Lock
// whose context does not come from [Lease.Context] has an owner of its own.
func WithOwner(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownerKey{}, new(owner))
}

// ownerOf returns the owner that ctx carries, which it shares with others, or a new one.
func ownerOf(ctx context.Context) (o *owner, shared bool) {
	if o, ok := ctx.Value(ownerKey{}).(*owner); ok {
		return o, true
	}
	return new(owner), false
}

// A slot is an owner's place for one name on one client: the hold that it has there.
type slot struct {
	owner  *owner
	client *Client
	key    string

	users int // who needs the slot to stay; guarded by owner.mu

	mu      sync.Mutex
	hold    *hold         // nil: none
	changed chan struct{} // closed when hold is set; nil: nobody listens

	// taken while a command about this hold is under way: count by count, and nothing
	// after the release. It is never taken while waiting for another owner.
	taken bool
	freed chan struct{} // closed when taken ends; nil: nobody listens
}

// slot returns the owner's place for key, which stays until leave.
func (o *owner) slot(c *Client, key string) *slot {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.slots {
		if s.client == c && s.key == key {
			s.users++
			return s
		}
	}
	s := &o.first.slot
	if o.first.used {
		s = new(slot)
	} else {
		o.first.used = true
		o.slots = o.first.list[:0]
	}
	s.owner, s.client, s.key, s.users = o, c, key, 1
	o.slots = append(o.slots, s)
	return s
}

// stay is one more call of leave that is needed.
func (s *slot) stay() {
	s.owner.mu.Lock()
	s.users++
	s.owner.mu.Unlock()
}

// leave gives up the slot once nobody needs it.
func (s *slot) leave() {
	o := s.owner
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	for i := range o.slots {
		if o.slots[i] == s {
			o.slots[i] = o.slots[len(o.slots)-1]
			o.slots[len(o.slots)-1] = nil
			o.slots = o.slots[:len(o.slots)-1]
			return
		}
	}
}

// take waits for the turn.
func (s *slot) take(ctx context.Context) error {
	for {
		s.mu.Lock()
		if !s.taken {
			s.taken = true
			s.mu.Unlock()
			return nil
		}
		if s.freed == nil {
			s.freed = make(chan struct{})
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// give ends the turn.
func (s *slot) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = false
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// held returns the hold that the owner has, lost or not, until its last lease is unlocked.
func (s *slot) held() *hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold
}

// set makes h the owner's hold and tells those of the same owner who wait.
func (s *slot) set(h *hold) {
	s.stay()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = h
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// clear forgets h.
func (s *slot) clear(h *hold) {
	s.mu.Lock()
	cleared := s.hold == h
	if cleared {
		s.hold = nil
	}
	s.mu.Unlock()
	if cleared {
		s.leave()
	}
}

// change returns a channel that is closed once the owner has a hold.
func (s *slot) change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold != nil {
		return closed
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

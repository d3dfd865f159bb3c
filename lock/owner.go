package lock

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// An owner is the identity that may re-enter. Within one process, its address identifies it.
//
// An owner that was created with a lease ends with the last hold it has: a goroutine that outlives
// the lease, and still carries its context, is an owner of its own from then on. Otherwise all such
// goroutines would be one owner, and inside the lock at once. An owner of [WithOwner] stays.
type owner struct {
	lasting bool // it was made by WithOwner; immutable

	ended bool // it had holds, and has none any more; never again has it any. Guarded by mu, as all that follows
	used  bool // its first slot is
	mu    sync.Mutex
	holds int     // that it has, or is about to have
	slots []*slot // few: one for each name that it holds or wants

	// Most owners only ever have one.
	first struct {
		slot slot
		list [1]*slot
	}
}

type ownerKey struct{}

// WithOwner starts a scope: all Locks under the returned context share one new owner, and re-enter
// its holds, but not those of ctx's owner. Without it, each Lock whose context does not come from
// [Lease.Context] has an owner of its own.
func WithOwner(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownerKey{}, &owner{lasting: true})
}

// EnsureOwner returns ctx if it carries an owner, and [WithOwner](ctx) if it carries none. It is
// for a function that takes several locks and must not wait for itself, whatever context it is
// called with. Such a function takes all of them under the context that EnsureOwner returns:
//
//	ctx = lock.EnsureOwner(ctx)
//	from, err := accounts[a].Lock(ctx)
//	...
//	to, err := accounts[b].Lock(ctx) // re-enters if a is b
//
// An owner that was created with a lease and has ended with its last one does not count. An owner
// that counts may still end later, when the last lock that it holds is unlocked.
func EnsureOwner(ctx context.Context) context.Context {
	if _, shared := ownerOf(ctx); shared {
		return ctx
	}
	return WithOwner(ctx)
}

// WithoutOwner returns a context that carries no owner: each Lock under it has an owner of its own,
// as if ctx came neither from [Lease.Context] nor from [WithOwner]. Use it for a goroutine that
// must not count as the same owner as its parent:
//
//	go audit(lock.WithoutOwner(ctx)) // waits for the lock, as everybody else does
func WithoutOwner(ctx context.Context) context.Context {
	return unowned{ctx}
}

// ownerOf returns the owner that ctx carries, which others may share, or a new one.
func ownerOf(ctx context.Context) (o *owner, shared bool) {
	if o, _ := ctx.Value(ownerKey{}).(*owner); o != nil && !o.isOver() {
		return o, true
	}
	return new(owner), false
}

func (o *owner) isOver() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended
}

// A slot is an owner's place for one name on one client: the hold that it has there.
type slot struct {
	owner  *owner
	client *core
	key    string

	hold  atomic.Pointer[hold] // nil: none
	users int32                // callers that need the slot; guarded by owner.mu

	// taken is set while a command about this hold is in progress, so that count follows count, and
	// nothing follows the release. It is never taken while waiting for another owner. Releases come
	// before acquisitions, and otherwise the order is first come, first served. So nobody waits for
	// longer than the rounds of those before. It is guarded by mu, like all fields below, and like changes
	// of hold.
	taken   bool
	mu      sync.Mutex
	lines   *lines        // nil: nobody waits for it
	changed chan struct{} // closed when hold is set; nil: nobody listens
}

// lines are the calls that wait for the turn of a slot. Each channel is closed when its turn has
// come.
type lines struct{ releasers, acquirers []chan struct{} }

func (l *lines) release() *[]chan struct{} { return &l.releasers }
func (l *lines) acquire() *[]chan struct{} { return &l.acquirers }

// slot returns the owner's place for key, which stays until leave.
func (o *owner) slot(c *core, key string) *slot {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.slots {
		if s.client == c && s.key == key {
			s.users++
			return s
		}
	}
	s := &o.first.slot
	if o.used {
		s = new(slot)
	} else {
		o.used = true
		o.slots = o.first.list[:0]
	}
	s.owner, s.client, s.key, s.users = o, c, key, 1
	o.slots = append(o.slots, s)
	return s
}

// entered reports whether the owner has a hold of key, lost or not, which a Lock would re-enter.
func (o *owner) entered(c *core, key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.slots, func(s *slot) bool { return s.client == c && s.key == key && s.held() != nil })
}

// claim returns the slot for the hold that is about to be set: s, or the slot of a new owner if the
// one that has waited for it has ended meanwhile. Set must follow, before the client's mu is unlocked, with which claim is
// called when the slot has no hold: so no other hold comes in between.
func (s *slot) claim() *slot {
	o := s.owner
	o.mu.Lock()
	if !o.ended {
		o.holds++
		s.users++
		o.mu.Unlock()
		return s
	}
	o.mu.Unlock()
	fresh := new(owner).slot(s.client, s.key)
	fresh.owner.holds = 1 // nobody else knows it yet
	return fresh
}

// renounce takes back a claim whose hold is over.
func (s *slot) renounce() {
	o := s.owner
	o.mu.Lock()
	if o.holds--; o.holds == 0 && !o.lasting {
		o.ended = true
	}
	o.mu.Unlock()
	s.leave()
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

// take waits for the turn to acquire.
func (s *slot) take(ctx context.Context) error { return s.await(ctx, (*lines).acquire) }

// takeNow takes the turn if nobody has it.
func (s *slot) takeNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := !s.taken
	s.taken = true
	return taken
}

// takeBack waits for the turn to release. It comes soon: no turn takes longer than a round.
func (s *slot) takeBack() { _ = s.await(context.Background(), (*lines).release) }

// await waits for the turn in one of the two lines.
func (s *slot) await(ctx context.Context, which func(*lines) *[]chan struct{}) error {
	s.mu.Lock()
	if !s.taken {
		s.taken = true
		s.mu.Unlock()
		return nil
	}
	if s.lines == nil {
		s.lines = new(lines)
	}
	line, turn := which(s.lines), make(chan struct{})
	*line = append(*line, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.Index(*line, turn)
	if i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		s.give() // it has come at the same moment
	}
	return ctx.Err()
}

// give ends the turn, and gives it to the next one.
func (s *slot) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines != nil {
		for _, line := range []*[]chan struct{}{&s.lines.releasers, &s.lines.acquirers} {
			if len(*line) > 0 {
				close((*line)[0])
				*line = (*line)[1:]
				return
			}
		}
	}
	s.taken, s.lines = false, nil
}

// held returns the hold that the owner has, lost or not, until its last lease is unlocked.
func (s *slot) held() *hold { return s.hold.Load() }

// set makes h, for which s was claimed, the owner's hold, and notifies waiting calls of the same
// owner.
func (s *slot) set(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold.Store(h)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// clear forgets h.
func (s *slot) clear(h *hold) {
	s.mu.Lock()
	cleared := s.hold.Load() == h
	if cleared {
		s.hold.Store(nil)
	}
	s.mu.Unlock()
	if cleared {
		s.renounce()
	}
}

// change returns a channel that is closed once the owner has a hold.
func (s *slot) change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hold.Load() != nil {
		return closed
	}
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// holdsKey asks a context whether it comes from a valid lease of this name.
type holdsKey struct{ name string }

// unowned is a context that hides its parent's owner and that owner's holds.
type unowned struct{ context.Context }

// Value implements [context.Context].
func (u unowned) Value(key any) any {
	switch key.(type) {
	case ownerKey, holdsKey:
		return nil
	}
	return u.Context.Value(key)
}

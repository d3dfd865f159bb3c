package lock

import (
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/watchdog"
)

// A tenure is what this process has at the nodes for one name: one hold id, one TTL, one renewal,
// one reserve of tokens. The holds of its goroutines follow one another within it without a command
// (pass.go). It begins with an acquisition. It ends when nobody here wants the name any more, or
// soon after somebody elsewhere does.
//
// This is lock cohorting (Dice, Marathe and Shavit, 2012), with the nodes as the global lock.
type tenure struct {
	// Immutable once granted.
	engine    *engine // of the hold that it began with
	id        string  // as the nodes know it
	contest   *contest
	footprint *redlock.Footprint
	round     int64 // of a queuer's asking in which it was granted; 0: it was not queued
	first     hold
	made      time.Time // no node was asked earlier

	ward watchdog.Ward // its dates are set with mu held

	// mu guards the holds, their leases, and the fields below. It may be taken with the client's mu
	// held, and not the other way round.
	mu         sync.Mutex
	present    []*hold   // that are in progress; no more than one, unless they read
	list       [1]*hold  // of present, until there are more
	holds      int       // that there have been
	ended      bool      // nothing is passed on, and nothing renewed, any more
	reason     Reason    // why
	vacant     bool      // the next goroutine waits for tokens
	reads      bool      // others can have the lock, too; it never writes again. Changed with the client's mu held, too
	uneven     bool      // since the last renewal a node lacked it, or may have
	patient    bool      // of uneven: no node refused it, but some were not told in time
	mending    bool      // nodes may lack it: they are asked once though no lease is renewed
	absent     time.Time // when so many nodes lacked it that no quorum had it, and none has confirmed it since; zero: never
	brief      bool      // of a TryLock, which waits no longer than its bound for anything; immutable
	reserve    reserve
	reign      reign         // of this process, of which it is a part
	backs      uint32        // how often nodes had come back when it was made; immutable
	since      time.Time     // when the attempt that was granted began
	granted    time.Time     // when that was decided, after all rounds: the minimum hold counts from then
	ttl        time.Duration // the longest of its leases'
	longest    time.Duration // TTL that a node was asked for
	validity   time.Time     // until when a quorum has the key, as far as is known
	dates      dates         // of the ward
	renewAt    time.Time     // the next renewal, if a lease wants one
	renewing   chan struct{} // closed when the renewal in flight is decided; nil: none
	noting     *noting       // its description, once that has been written
	last       error         // what the last round of renewals came to, if it failed
	joining    *joining      // of one that others may join: whether they may now; nil: of any other
	serving    *serving      // of one that writes: of the turns within it; nil: of any other. Set before it is known
	*numbering               // of a semaphore's; nil: of any other
	run        *run          // of a fair lock's: the queuers here that follow within it; nil: there were none yet
	pause      time.Duration // until it is renewed because a node lacks it; 0: none has of late
}

// A noting is the description of a tenure as the nodes have it. It is guarded by the tenure's mu.
type noting struct {
	written time.Time // when it was sent to all
	lacking []bool    // nodes that lack it: they did not confirm it, or were given the hold since; nil: none
}

// A run is the part of a fair lock's tenure that is about the waiters served within it. It is guarded by the
// tenure's mu.
type run struct {
	next      []*place    // that may be served within the tenure, the next one first
	leaving   []*tenure   // of those that were served, and are still in the queues on the nodes
	dismissal *time.Timer // has them leave before the release; nil: there were none yet
	along     []string    // ids of those that leave with the release
}

// dates are the dates that a ward was set to.
type dates struct{ renewAt, endAt time.Time }

// newTenure makes a tenure that no node knows yet, with its first hold for the owner of s.
func (e *engine) newTenure(s *slot) *tenure {
	t := &tenure{
		engine:    e,
		id:        e.client.newID(e.mark()),
		reads:     e.reads(),
		footprint: e.client.group.NewFootprint(),
		ttl:       e.set.ttl,
		backs:     e.client.backs.Load(),
		made:      time.Now(),
	}
	t.ward.Owner = t
	if e.numbered != nil {
		t.numbering = new(numbering)
	}
	t.first.tenure, t.first.slot, t.first.number, t.first.reader = t, s, 1, t.reads
	return t
}

// request is the data about the tenure for the kind's scripts.
func (t *tenure) request() kind.Request { return t.engine.request(t.id) }

func (t *tenure) keys() lua.Keys { return t.engine.keys }

// begin marks h as in progress. Called with mu held, or before the tenure is known to others.
func (t *tenure) begin(h *hold) {
	if t.present == nil {
		t.present = t.list[:0]
	}
	h.index = int32(len(t.present))
	t.present = append(t.present, h)
}

// leave records that h is over. Called with mu held.
func (t *tenure) leave(h *hold) {
	if int(h.index) >= len(t.present) || t.present[h.index] != h {
		return // all of them have ended
	}
	last := len(t.present) - 1
	t.present[h.index] = t.present[last]
	t.present[h.index].index = h.index
	t.present[last] = nil
	t.present = t.present[:last]
}

// running returns the run of t, which it has from then on. Called with mu held.
func (t *tenure) running() *run {
	if t.run == nil {
		t.run = new(run)
	}
	return t.run
}

// leaves returns those that are still in the queues on the nodes, and leave now. Called with mu held.
func (t *tenure) leaves() (leaving []*tenure) {
	if t.run != nil {
		leaving, t.run.leaving = t.run.leaving, nil
	}
	return leaving
}

// stop has nothing passed on within t, and nothing renewed, from now on. Called with mu held.
func (t *tenure) stop(reason Reason) {
	t.ended, t.reason = true, reason
	if t.run != nil {
		t.run.next = nil
	}
}

// leases returns the leases of the holds in progress that are not over. Called with mu held.
func (t *tenure) leases() iter.Seq[*Lease] {
	return func(yield func(*Lease) bool) {
		for _, h := range t.present {
			for _, l := range h.leases {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// count returns the hold count for the nodes. Called with mu held.
func (t *tenure) count() int {
	n := 0
	for _, h := range t.present {
		n += len(h.leases)
	}
	return max(n, 1)
}

// watch registers the tenure with the watchdog.
func (t *tenure) watch(start time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since = start
	t.renewAt = start.Add(t.beat() - rand.N(t.ttl/6+1)) // holds taken together part
	// A node that came back during the acquisition may have forgotten the hold, which was not yet among
	// those that were renewed then.
	if t.uneven || t.backs != t.engine.client.backs.Load() {
		t.renewSoon()
	}
	t.schedule()
}

// beat returns when to renew after a write: after a third of the TTL, less a jitter that keeps
// holds from moving in step. Two more renewals can fail before the validity ends.
func (t *tenure) beat() time.Duration {
	third := t.ttl / 3
	return third - rand.N(third/8+1)
}

// refused records that a node does not have the hold because another hold has its vote. Rivals give
// such votes back at once, so the node is soon free, and the next renewal repairs it. That renewal
// comes early, because until then the hold depends on the remaining nodes.
func (t *tenure) refused() { t.lacks(false) }

// missed records that a node may lack the hold, because the command came too late or failed there. If
// the node is down, all holds are renewed when it is back. A node that the restart guard keeps out gets
// the hold with a later, regular renewal. Any other node is asked again soon, like one that refused.
func (t *tenure) missed(_ int, a redlock.Answer, down bool) {
	if !down && !errors.Is(a.Err, redlock.ErrRestarted) {
		t.lacks(true)
	}
}

// lacks schedules the next renewal early, because a node lacks the hold. If it is untold, the node did
// not refuse but was not told in time. It probably has much to do, so it is given more time.
func (t *tenure) lacks(untold bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.patient = untold && (t.patient || !t.uneven)
	if t.uneven || t.ended {
		return
	}
	t.uneven = true
	if t.since.IsZero() || t.renewing != nil {
		return // watch and decided look at it
	}
	t.renewSoon()
	t.schedule()
}

// renewSoon schedules the next renewal early, with a pause that grows while nodes still lack it.
// Called with mu held.
func (t *tenure) renewSoon() {
	t.mending = true
	least := 10*time.Millisecond + rand.N(15*time.Millisecond)
	if t.patient {
		least += t.engine.client.group.NodeTimeout()
	}
	t.pause = min(max(2*t.pause, least), t.ttl)
	if soon := time.Now().Add(t.pause); soon.Before(t.renewAt) {
		t.renewAt = soon
	}
}

// schedule sets the ward's dates from the leases. Called with mu held.
func (t *tenure) schedule() {
	if t.ended {
		t.engine.client.watchdog.Forget(&t.ward)
		return
	}
	var next dates
	var now time.Time // which is read only if a lease is renewed for a limited time
	for l := range t.leases() {
		if l.renewUntil != nil && now.IsZero() {
			now = time.Now()
		}
		if next.endAt.IsZero() || l.deadline.Before(next.endAt) {
			next.endAt = l.deadline
		}
		if t.renewing == nil && (t.mending || l.wantsRenewal(now)) {
			next.renewAt = t.renewAt
		}
	}
	if next != t.dates { // which a hold that follows another seldom changes
		t.dates = next
		t.engine.client.watchdog.Set(&t.ward, next.renewAt, next.endAt)
	}
}

// renewed reports whether the watchdog renews the hold. Called with mu held.
func (t *tenure) renewed(now time.Time) bool {
	for l := range t.leases() {
		if l.wantsRenewal(now) {
			return true
		}
	}
	return false
}

// span returns the TTL for a renewal. If no lease is renewed, nodes that lack the hold get it back
// with a TTL that ends with the validity proven so far. It is zero if there is nothing to ask for.
// Called with mu held.
func (t *tenure) span(now time.Time) time.Duration {
	switch {
	case len(t.present) == 0:
		return 0
	case t.renewed(now):
		return t.ttl
	case t.mending && now.Before(t.validity):
		return t.validity.Sub(now) + t.engine.client.group.Drift(t.ttl)
	default:
		return 0
	}
}

// confirm records until when a quorum has the key, unless the previous validity has ended
// meanwhile: then the hold was not proven to be valid, and is lost (I2). The nodes were asked at start. Called with mu held.
func (t *tenure) confirm(start, validity time.Time) {
	if !start.Before(t.absent) {
		t.absent = time.Time{}
	}
	if validity.After(t.validity) && time.Now().Before(t.validity) {
		t.validity = validity
	}
}

// isAbsent reports whether no quorum had the tenure, as was known at start, and none has confirmed it since. Called with mu held.
func (t *tenure) isAbsent(start time.Time) bool { return !t.absent.IsZero() && !start.Before(t.absent) }

// holding reports whether the hold called name is in progress.
func (t *tenure) holding(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.present, func(h *hold) bool { return h.name() == name })
}

// goesOn reports whether the tenure was granted and has not ended.
func (t *tenure) goesOn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.since.IsZero() && !t.ended
}

// isOver reports whether the tenure has ended.
func (t *tenure) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

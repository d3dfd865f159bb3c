package lock

import "time"

const (
	// maxHolds and maxReign bound how long a process passes a name on to itself while others wait,
	// whichever is reached first, not counting the hold in progress (U4), nor the two round trips for the grant and for the
	// first tokens: before that there is nothing to pass on.
	maxHolds = 32
	maxReign = 50 * time.Millisecond
	// maxAlone is the bound if nobody else seems to wait: some clients only poll, and do not
	// listen.
	maxAlone = 3 * time.Second
	// askEvery is the interval at which the nodes are asked while a process passes a name on to itself, so that
	// waiters elsewhere, and the loss of the hold, are noticed well within maxReign.
	askEvery = maxReign / 2
)

// A reign is for how long a process has had a name without leaving others a chance (U4): within one tenure, or
// within several. A lease that cannot follow within a tenure (sharing.go) has one of its own, which follows at once:
// its request leaves with the release, and nobody from elsewhere comes in between.
type reign struct {
	since time.Time // when its first tenure began; zero: nobody reigns
	until time.Time // when its last one ended
	holds int       // within those before the present tenure
	asked time.Time // when the nodes were last asked on behalf of a lease that cannot follow; zero: not yet
}

// isDue reports whether it is the turn of other processes, after so many holds within the present tenure.
func (r *reign) isDue(now time.Time, holds int, others elsewhere) bool {
	if others.waits {
		return r.holds+holds >= maxHolds || now.Sub(r.since) >= maxReign+min(2*others.trip, maxChance)
	}
	return now.Sub(r.since) >= maxAlone
}

// dueToAsk reports whether it is time to ask the nodes who else waits, and records that it is done.
func (r *reign) dueToAsk(now time.Time) bool {
	if now.Sub(r.asked) < askEvery {
		return false
	}
	r.asked = now
	return true
}

// elsewhere is what the nodes have said of the other processes that want a name.
type elsewhere struct {
	waits bool          // one of them waits
	deaf  bool          // one waits that cannot hear
	trip  time.Duration // that it took to ask
}

package lock

import "time"

const (
	// fairChance is the longest time for which this process's own waiters then leave the name to the
	// others, but for the time that messages take; a message wakes them earlier, as it wakes the others.
	fairChance = 20 * time.Millisecond
	// deafLook is how often a contender looks that cannot hear of the end of a hold.
	deafLook = 250 * time.Millisecond
	// deafChance is that time if some of the others cannot hear: no message wakes those, and each looks
	// once meanwhile.
	deafChance = deafLook + deafLook/5
)

// due reports whether it is the turn of other processes (U4). Called with mu and t.mu held.
func (t *tenure) due(now time.Time) bool {
	return t.reign.isDue(now, t.holds, t.contest.elsewhere)
}

// yield leaves others a chance after t, which has ended, if it is their turn. Otherwise this process reigns on in its next
// tenure. If nobody here waits, that matters only to those who cannot come as long as this process comes back at once. In a
// queue on the nodes, they know whose turn it is. Called with mu held.
func (ct *contest) yield(t *tenure) {
	ct.chance, ct.deaf, ct.reign = 0, false, reign{}
	if ct.key.order != unordered || len(ct.queue) == 0 && !ct.minds() {
		return
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.due(now) {
		ct.chance, ct.deaf = ct.othersChance(), ct.elsewhere.deaf
		return
	}
	ct.reign = reign{since: t.reign.since, until: now, holds: t.reign.holds + t.holds, asked: t.reign.asked}
}

// minds reports whether somebody elsewhere is known to be unable to come as long as this process comes back at once.
// Called with mu held.
func (ct *contest) minds() bool { return ct.elsewhere.deaf || ct.rivals.owes() }

// othersChance is for how long others have a chance when it is their turn. The release has to reach the nodes, its
// message those that wait, and their requests the nodes. Called with mu held.
func (ct *contest) othersChance() time.Duration {
	chance := fairChance
	if ct.elsewhere.deaf {
		chance = deafChance
	}
	return max(min(chance+2*ct.elsewhere.trip, maxChance), ct.rivals.farthest())
}

// wakeHead makes the contender at the head of the queue check its turn. Called with mu held.
func (ct *contest) wakeHead(look bool) {
	if len(ct.queue) > 0 && !ct.queue[0].queues() {
		ct.queue[0].stir(look)
	}
}

// wakeLater wakes the contender at the head after a while. Until then, none looks of its own accord. A message that comes before does it
// instead: a second wake would have the head ask in the middle of somebody's hold, and a request that is under way
// when that ends is ahead of those of others. Called with mu held.
func (ct *contest) wakeLater(pause time.Duration, look bool) {
	ct.calm()
	var timer *time.Timer
	timer = time.AfterFunc(pause, func() {
		ct.client.mu.Lock()
		defer ct.client.mu.Unlock()
		if ct.later != timer {
			return // it was taken back meanwhile
		}
		ct.later = nil
		if ct.rivals != nil {
			ct.rivals.waited = true
		}
		ct.wakeHead(look)
		ct.tidy()
	})
	ct.later = timer
}

// published makes the head look after a release somewhere, or when messages were missed.
func (ct *contest) published(id string) {
	ct.client.mu.Lock()
	defer ct.client.mu.Unlock()
	if !ct.isCurrent() {
		return // the message has come while it was dropped
	}
	if t := ct.has(id); t != nil {
		ct.forced = id // not by an Unlock, which comes first here
	}
	// A release of this process has woken the head already, without the detour through Redis,
	// unless the nodes were late to learn of it. A release of the present holder is somebody's
	// ForceUnlock.
	if ct.client.made(id) && (ct.last == nil || ct.last.holder != id) && (ct.chance == 0 || ct.deaf) &&
		(ct.tenure == nil || ct.tenure.id != id) {
		return
	}
	if pause := ct.behindRivals(id); pause > 0 {
		ct.wakeLater(pause, true)
		return
	}
	ct.calm()
	ct.wakeHead(true)
}

// behindRivals returns for how long the head leaves a name that was released by the hold called id
// to other processes. Called with mu held.
func (ct *contest) behindRivals(id string) time.Duration {
	now := time.Now()
	switch {
	case id == "" || ct.tenure != nil:
		return 0 // messages were missed, or the nodes are asked what has become of the tenure
	case !ct.client.made(id):
		ct.reign = reign{}
		if ct.rivals == nil {
			ct.rivals = new(rivals)
		}
		ct.rivals.heard(id, now)
	case ct.rivals == nil:
		return 0
	}
	return ct.rivals.pause(now)
}

package lock

import (
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

const (
	// maxRivals is the maximum number of processes that are distinguished, by their latest
	// releases.
	maxRivals = 16
	// headStart is the head start of a process that has waited longer: slightly more than the
	// difference between the travel times of several processes' messages and attempts.
	headStart = 200 * time.Microsecond
)

// rivals are the other processes whose releases of a name this process has heard recently.
//
// A message wakes a waiter of each process at the same time, and a server notifies them in the same
// order each time: the first process would win again and again. So each process gives the others a
// head start for every release by a rival since it last had the name itself. The processes need not
// agree on anything for that: a process that is wrong about the others tries slightly too early or
// too late.
//
// That is too little for a process that is farther from the nodes than the others are: their attempts
// would come first each time. It says so (far.go), and gets the head start that it needs.
type rivals struct {
	latest [maxRivals]string // clients, in a ring
	next   int
	lost   int       // releases by others since this process last had the name
	since  time.Time // when the first of them was heard
	passed []string  // clients of which one of them was: a near one may tell of dozens before a far one tells of its only one

	far    []distant // processes that are farther away than others, as of this process's latest tenure
	waited bool      // their head start has passed, and nobody is known to have come

	overtakings int    // holds of others that have overtaken this process since it last had the name
	overtaker   string // the last one of them
}

// heard records a release by another client.
func (r *rivals) heard(hold string, now time.Time) {
	client := clientOf(hold)
	if r.lost == 0 {
		r.since = now
	}
	r.latest[r.next] = client
	r.next = (r.next + 1) % maxRivals
	r.lost++
	r.waited = false
	if len(r.passed) < maxRivals && !slices.Contains(r.passed, client) {
		r.passed = append(r.passed, client)
	}
	for i := range r.far {
		if f := &r.far[i]; f.client == client {
			f.owed, f.missed = false, false
		}
	}
}

// won records that this process has the name.
func (r *rivals) won() {
	for i := range r.far {
		f := &r.far[i]
		f.missed = f.missed || f.owed
		f.spent = f.spent || f.owed && r.waited
		f.owed = !f.spent
	}
	r.lost, r.passed, r.waited, r.overtakings, r.overtaker = 0, r.passed[:0], false, 0, ""
}

// count returns how many rivals there are.
func (r *rivals) count() int {
	n := 0
	for i, client := range r.latest {
		if client != "" && !slices.Contains(r.latest[:i], client) {
			n++
		}
	}
	for _, f := range r.far {
		if !slices.Contains(r.latest[:], f.client) {
			n++
		}
	}
	return n
}

// pause is how long this process leaves the name to processes that have waited longer. If it is wrong about the others, and
// they do not wait for one another, it comes first.
//
// A process whose goroutines do not wait for each other tells of each of its holds, and leaves others no chance before its
// reign is over. So until all of them can have reigned once, those that are far may still have theirs.
func (r *rivals) pause(now time.Time) time.Duration {
	n := r.count()
	ahead := n - r.lost
	if ahead <= 0 && now.Sub(r.since) >= maxReign*time.Duration(n+1) {
		r.giveUp()
		return 0
	}
	return headStart*time.Duration(max(ahead, 0)) + r.farthest()
}

// giveUp records that those that are far have not come in all that time: their marks count no more.
func (r *rivals) giveUp() {
	for i := range r.far {
		if f := &r.far[i]; f.owed {
			f.owed, f.spent = false, true
		}
	}
}

// owes reports whether one that is farther away has not had the name since this process had it.
func (r *rivals) owes() bool { return r.farthest() > 0 }

// remembers reports whether a mark of one that is farther away is known, also one that counts no more.
func (r *rivals) remembers() bool { return r != nil && len(r.far) > 0 }

// farthest is how long the farthest one needs of those that have not had the name since this process had it.
func (r *rivals) farthest() (chance time.Duration) {
	if r == nil {
		return 0
	}
	for _, f := range r.far {
		if f.owed {
			chance = max(chance, f.chance)
		}
	}
	return chance
}

// overtaken records that an attempt has found the name taken by the hold called id. It reports whether this
// process is to say that it is far: too often, the name was taken by one that had had it while this one waited.
func (r *rivals) overtaken(id string) bool {
	r.waited = false // somebody has come
	if !slices.Contains(r.passed, clientOf(id)) {
		return false
	}
	if r.overtaker != id {
		r.overtaker = id
		r.overtakings++
	}
	return r.overtakings >= maxOvertakings
}

// told records the marks of the processes that are far, as they were while this process had the name. One that says
// again that it is far, and has not had the name after this process's last turn, gets a longer chance: another process may
// have had the name for as long as the last one, each time.
func (r *rivals) told(marks map[string]lua.FarMark) {
	var far []distant
	for client, m := range marks {
		f := distant{client: client, mark: m.ID, chance: min(m.Chance, maxChance), owed: true}
		for _, before := range r.far {
			switch {
			case before.client != client:
			case !newer(m.ID, before.mark):
				f = before
			case before.missed:
				f.chance = max(f.chance, min(2*before.chance, maxChance))
			}
		}
		far = append(far, f)
	}
	r.far = far
}

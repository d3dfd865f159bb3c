package lock

import (
	"slices"
	"strings"
	"time"
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
type rivals struct {
	latest [maxRivals]string // clients, in a ring
	next   int
	lost   int // releases by others since this process last had the name
}

// heard records a release by another client.
func (r *rivals) heard(hold string) {
	client, _, _ := strings.Cut(hold, ":")
	r.latest[r.next] = client
	r.next = (r.next + 1) % maxRivals
	r.lost++
}

// count returns how many rivals there are.
func (r *rivals) count() int {
	n := 0
	for i, client := range r.latest {
		if client != "" && !slices.Contains(r.latest[:i], client) {
			n++
		}
	}
	return n
}

// pause is how long this process leaves the name to processes that have waited longer.
func (r *rivals) pause() time.Duration { return headStart * time.Duration(max(0, r.count()-r.lost)) }

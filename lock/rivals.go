package lock

import (
	"slices"
	"strings"
	"time"
)

const (
	// maxRivals bounds how many processes are told apart, by the latest releases.
	maxRivals = 16
	// headStart is what a process leaves to one that has waited for longer: a little more than
	// messages and attempts of several processes differ on their ways.
	headStart = 200 * time.Microsecond
)

// rivals are the other processes whose releases of a name this one has heard of lately.
//
// A message wakes a waiter of each process at the same time, and a server tells them in the same
// order each time: the first would win again and again. So each leaves the others a head start
// for every release that they have heard, and it has not, since it last had the name. Nobody
// needs to agree on anything for that: who is wrong about the others tries a moment too early
// or too late.
type rivals struct {
	latest [maxRivals]string // clients, in a ring
	next   int
	lost   int // releases by others since this process last had the name
}

// heard notes a release by another client.
func (r *rivals) heard(hold string) {
	client, _, _ := strings.Cut(hold, ":")
	r.latest[r.next] = client
	r.next = (r.next + 1) % maxRivals
	r.lost++
}

// count is how many there are.
func (r *rivals) count() int {
	n := 0
	for i, client := range r.latest {
		if client != "" && !slices.Contains(r.latest[:i], client) {
			n++
		}
	}
	return n
}

// pause is how long this process leaves the name to those who have waited for longer.
func (r *rivals) pause() time.Duration { return headStart * time.Duration(max(0, r.count()-r.lost)) }

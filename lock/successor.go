package lock

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

const (
	// A successor that may have come too early asks again after firstHurry, then after twice that,
	// up to lastHurry, and often enough to take about a second.
	firstHurry = 5 * time.Millisecond
	lastHurry  = 50 * time.Millisecond
	hurries    = 24
)

// A succession is the task of a queuer that takes the lock over from a hold, and may come too early. It was
// named to the nodes as the successor, and a node on which the release found it at the head has woken nobody.
// Or a quorum has told it of the hold's end, and it needs another node, whose word about that end would come
// as no news. It asks until no node can have run the release after its request. Signs of life would find the
// free lock, too, but later.
type succession struct {
	open   bool
	named  bool     // to the nodes
	causes []string // what it was told, among which the holds that have ended
	tries  int
}

// follows reports whether the hold called id has ended, as far as the queuer was told.
func (i *succession) follows(id string) bool {
	return id != "" && (slices.Contains(i.causes, id) || slices.Contains(i.causes, id+lua.Kept))
}

// pause is how long the successor waits until it asks again; 0: it need not hurry.
func (i *succession) pause() time.Duration {
	if !i.open || i.tries == hurries {
		return 0
	}
	pause := min(firstHurry<<min(i.tries, 10), lastHurry)
	i.tries++
	return pause/2 + rand.N(pause/2)
}

// asks records that p asks now. It reports whether p was named as a successor since it last asked, and returns
// the causes of its turn that it was told since.
func (p *place) asks() (successor bool, causes []string) {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	successor, p.successor = p.successor, false
	causes, p.causes = p.causes, nil
	p.asked = time.Now()
	if p.polled {
		p.call.handover, p.polled = HandoverPoll, false
	}
	select {
	case <-p.wake: // whatever the reason was, it looks now
	default:
	}
	return successor, causes
}

package lock

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
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

// early reports whether the release may still run on a node, after the nodes' answers: the node
// still has a hold that has ended, as far as this client knows, or, if a release counts on the queuer, it has
// not answered, and the queuer's turn has come on others.
func (q *queuer) early(b *redlock.Ballot) bool {
	c := q.engine.client
	c.mu.Lock()
	defer c.mu.Unlock()
	turn, silent := q.next, false
	for i := range c.group.Size() {
		answer := b.Answer(i)
		switch answer.Vote {
		case redlock.Yes:
			turn = true
		case redlock.No:
			a, err := q.engine.kind.Acquired(answer.Reply)
			silent = silent || err != nil
			if q.succeeds.follows(a.Holder) || c.ended(q.place.contest.key.lock, a.Holder) {
				return true
			}
		default:
			silent = true
		}
	}
	return q.succeeds.named && turn && silent
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

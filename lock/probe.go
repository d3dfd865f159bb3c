package lock

import (
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/watchdog"
)

// A probe asks every node once a second whether it still has one of the holds, while its client
// holds anything. Of many it looks at some, and the one that was given to nodes least recently stands for
// all: a node that has forgotten another of them has forgotten this one. So a node that was restarted or
// emptied has the holds again soon ([recovery]), even if the client sends nothing else meanwhile. A new
// connection reveals a new server by itself, and so does an outage that is over.
type probe struct {
	ward    watchdog.Ward
	client  *core
	back    *recovery // that has the holds renewed when a node has forgotten one
	pause   time.Duration
	running bool // guarded by the client's mu

	mu      sync.Mutex
	lacking []lacking // by node
}

// lacking is what a probe knows of a node.
type lacking struct {
	last  bool   // the node lacked the last hold that it was asked for
	given uint32 // how often the node had been given a hold by then
}

// probeLook bounds how many names and holds are looked at to find the one that is asked for.
const probeLook = 128

func newProbe(c *core, back *recovery, pause time.Duration) *probe {
	p := &probe{client: c, back: back, pause: pause, lacking: make([]lacking, c.group.Size())}
	p.ward.Owner = p
	return p
}

// begin is called when something is held, with the client's mu held. With a single node there is no
// other node to get a hold back from.
func (p *probe) begin() {
	if !p.running && p.pause > 0 && p.client.group.Size() > 1 {
		p.running = true
		p.client.watchdog.Set(&p.ward, time.Now().Add(p.pause), time.Time{})
	}
}

// End implements [watchdog.Owner]: there is no such date.
func (p *probe) End() (after func()) { return nil }

// renew asks the nodes, on the watchdog's goroutine, unless nothing is held.
func (p *probe) renew() {
	c := p.client
	c.mu.Lock()
	p.running = c.held > 0
	if !p.running {
		c.mu.Unlock()
		return
	}
	t := c.leastRecentlyGiven()
	c.mu.Unlock()
	if t != nil {
		p.ask(t)
	}
	c.watchdog.Set(&p.ward, time.Now().Add(p.pause), time.Time{})
}

// leastRecentlyGiven returns the hold, of some, that was given to nodes least recently: one that a node was
// given after it was emptied would not show it. nil: there is none yet. Called with mu held.
//
// That goes by when it was sent. A lane sends in the order in which it was asked to, so a node that has a hold
// from after it was emptied has those that were given later, too.
func (c *core) leastRecentlyGiven() (least *tenure) {
	var when time.Time
	looked := 0
	for _, ct := range c.contests { // in a random order
		if looked++; looked > probeLook {
			break
		}
		for t := range ct.tenures() {
			if looked++; looked > probeLook {
				break
			}
			given := t.lastGiven()
			if !given.IsZero() && (least == nil || given.Before(when)) {
				least, when = t, given
			}
		}
	}
	return least
}

func (p *probe) ask(t *tenure) {
	p.client.group.Vote(redlock.Motion{
		Name: "probe",
		Call: lua.Holds{Keys: t.keys(), Hold: t.id}.Call(),
		Yes:  lua.ParseHolds,
		Each: func(node int, a redlock.Answer) {
			if a.Err != nil || !t.footprint.Has(node) || t.isOver() {
				return
			}
			if p.notes(node, a.Vote == redlock.No) {
				p.back.due()
			}
		},
	})
}

// notes reports whether it is news that node lacks a hold: the last time it had one, or it has been given
// holds since. The restart guard may keep a node without holds for a while, which is not news each time.
func (p *probe) notes(node int, lacks bool) (newly bool) {
	given := p.client.given[node].Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.lacking[node]
	p.lacking[node] = lacking{lacks, given}
	return lacks && (!before.last || before.given != given)
}

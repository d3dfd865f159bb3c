package lock

import "github.com/holdfast-go/holdfast/redlock"

// An order is an attempt that somebody makes for a contender of the same process who is
// asleep: who releases the lock sends it right behind the release, in one pipeline, and
// the contender is woken by what becomes of it. So the round trip need not wait until the
// contender runs.
//
// An order stands at its contender's place until the contender rises, whatever it rises
// for, and is its to conclude or to give back from then on. It is made only for one who is
// asleep and has none. So nobody makes two attempts at once, and none is forgotten.
type order struct {
	hold   *hold
	ballot *redlock.Ballot // drafted, and soon prepared
}

// orderFor makes an order for p, if p is asleep, has none and is not about to give up.
// Called with mu held.
func (c *Client) orderFor(p *place) *order {
	a := p.contender
	if !p.asleep || p.order != nil || a.ctx.Err() != nil {
		return nil
	}
	h := a.engine.newHold(a.slot)
	m := h.claim()
	m.Then = func(*redlock.Ballot) { // not with mu held: the ballot is not put to vote under it
		c.mu.Lock()
		defer c.mu.Unlock()
		p.stir(false)
	}
	p.order = &order{hold: h, ballot: c.group.Draft(m)}
	p.contest.asking = p.order.ballot
	return p.order
}

// rise ends p's sleep and takes its order.
func (p *place) rise() *order {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	o := p.order
	p.order, p.asleep = nil, false
	return o
}

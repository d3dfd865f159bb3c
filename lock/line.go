package lock

import "slices"

// join queues p for key.
func (c *core) join(p *place, key contestKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contest(key)
	p.contest = ct
	if p.queuer != nil {
		if ct.tenure != nil {
			ct.tenure.takes(p)
		}
		if !p.here {
			p.leader = ct.leads(p, ct.queue)
			p.later = p.leader == nil && slices.ContainsFunc(ct.queue, func(before *place) bool { return before.starting || before.later })
		}
	}
	ct.queue = append(ct.queue, p)
}

// remove takes p out of the queue, and wakes who is at the head after it. Called with mu held.
func (ct *contest) remove(p *place) {
	ct.desert(p)
	switch ct.drop(p) {
	case -1:
		return
	case 0:
		ct.wakeHead(false)
	}
	ct.tidy()
}

// drop takes p out of the queue, and tells where it was; -1: it was not there. Called with mu
// held.
func (ct *contest) drop(p *place) int {
	i := slices.Index(ct.queue, p)
	if i < 0 {
		return i
	}
	if ct.first[0] == p {
		ct.first[0] = nil
	}
	if i == 0 {
		ct.queue[0] = nil
		ct.queue = ct.queue[1:]
	} else {
		ct.queue = slices.Delete(ct.queue, i, i+1)
	}
	if p.starting || p.later {
		p.starting, p.later = false, false
		ct.advance()
	}
	return i
}

// take removes p, which has been passed the lock, and wakes it. Whoever is at the head now need
// not know it before the tenure ends. Called with mu held.
func (ct *contest) take(p *place) {
	ct.drop(p)
	p.stir(false)
}

// tidy forgets what nobody needs. Called with mu held.
func (ct *contest) tidy() {
	if len(ct.queue) > 0 {
		return
	}
	ct.first[0] = nil
	ct.queue = ct.first[:0]
	if ct.heartbeats != nil {
		ct.client.watchdog.Forget(&ct.heartbeats.ward)
		ct.heartbeats = nil
	}
	if ct.any() != nil {
		return // somebody may come back at any moment
	}
	if ct.wakes != nil {
		ct.wakes.Close()
		ct.wakes = nil
	}
	delete(ct.client.contests, ct.key)
}

// leave gives the place up, and the turn to who is behind it. It returns the lease that p was
// passed meanwhile, which is to be given back.
func (p *place) leave() *Lease {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.contest.remove(p)
	return p.lease
}

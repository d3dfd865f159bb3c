package lock

import "slices"

// begin has t begin, and returns the tenures that must have ended on the nodes, as they granted this one.
// Called with mu held.
func (ct *contest) begin(t *tenure) (usurped []*tenure) {
	c := ct.client
	if ct.tenure != nil {
		usurped = append(usurped, ct.tenure)
		ct.leaves()
		c.held--
	}
	if t.joining != nil || t.serving != nil {
		c.shared[t.id] = t
	}
	if t.reads {
		ct.reads = append(ct.reads, t)
		ct.relay.slots += t.engine.wants
		ct.relay.token = max(ct.relay.token, t.first.token)
	} else {
		for _, before := range ct.reads {
			delete(c.shared, before.id)
		}
		c.held -= len(ct.reads)
		usurped = append(usurped, ct.reads...)
		ct.reads, ct.tenure = nil, t
		ct.relay.slots = 0
	}
	c.taken()
	return usurped
}

// leaves has this process be without the tenure by which it had the lock alone. Called with mu held.
func (ct *contest) leaves() {
	delete(ct.client.shared, ct.tenure.id)
	ct.tenure = nil
	ct.disband(func(*place) bool { return true })
}

// end forgets t, and tells whether it was known. Called with mu held.
func (ct *contest) end(t *tenure) bool {
	if ct.tenure == t {
		ct.leaves()
	} else if i := slices.Index(ct.reads, t); i >= 0 {
		ct.reads = slices.Delete(ct.reads, i, i+1)
		delete(ct.client.shared, t.id)
		ct.relay.slots -= t.engine.wants
		ct.disperse(t.engine.wants)
	} else {
		return false
	}
	ct.client.freed()
	return true
}

// over notes that t has ended, and has the next one here try: successor, if the nodes count on it.
// The release is in the lanes by now, so it is executed before what the next one sends.
func (c *core) over(t *tenure, successor *place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	successor.succeed() // whatever has become of t: nobody else wakes it
	ct := t.contest
	if ct == nil || !ct.end(t) {
		return
	}
	if ct.even {
		ct.wakeLater(fairChance, false)
	} else {
		ct.wakeHead(false)
	}
	if successor == nil {
		ct.successor().succeed()
	}
	ct.tidy()
}

// expects tells whether somebody here waits for t to end, and which queuer is its successor.
func (ct *contest) expects(t *tenure) (successor *place, waited bool) {
	ct.client.mu.Lock()
	defer ct.client.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.reads {
		successor = ct.successor()
	}
	return successor, len(ct.queue) > 0
}

// successor is the queuer that is probably next, if that is known to be one of this process: it
// need not wait for the message to come round. nil: there is none. Called with mu held.
func (ct *contest) successor() (first *place) {
	if ct.unpredictable || len(ct.queue) == 0 || !ct.queue[0].queues() {
		return nil
	}
	for _, p := range ct.queue {
		if p.ticket > 0 && (first == nil || p.ticket < first.ticket || p.ticket == first.ticket && p.id < first.id) {
			first = p
		}
	}
	return first
}

// succeed has p, unless it is nil, ask for the lock as its successor. Called with mu held.
func (p *place) succeed() {
	if p != nil {
		p.successor = true
		p.stir(true)
	}
}

// downgrade moves t, which writes and is to read. Called with mu held.
func (ct *contest) downgrade(t *tenure) {
	ct.tenure = nil
	// Not the last one: others do not join it.
	ct.reads = append([]*tenure{t}, ct.reads...)
}

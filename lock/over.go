package lock

import "slices"

// begin lets t begin, and returns the tenures that must have ended on the nodes, since they granted
// t. Called with mu held.
func (ct *contest) begin(t *tenure) (usurped []*tenure) {
	c := ct.client
	usurped = ct.without(t)
	if ct.tenure != nil {
		ct.leaves()
		c.held--
	}
	if t.joining != nil || t.serving != nil {
		c.shared[t.id] = t
	}
	if t.reads {
		ct.reads = append(ct.reads, t)
		ct.relay.gain(t)
	} else {
		for _, before := range ct.reads {
			delete(c.shared, before.id)
		}
		c.held -= len(ct.reads)
		ct.reads, ct.tenure = nil, t
		ct.relay.reset()
	}
	c.taken()
	return usurped
}

// leaves ends the tenure by which this process had the lock alone. Called with mu held.
func (ct *contest) leaves() {
	delete(ct.client.shared, ct.tenure.id)
	if ct.client.closed { // those that wait for it hear of both at once
		ct.last = &denial{holder: ct.tenure.id, sure: true}
	}
	ct.tenure = nil
	ct.disband(everybody)
}

// end forgets t, and reports whether it was known. Called with mu held.
func (ct *contest) end(t *tenure) bool {
	if ct.tenure == t {
		ct.leaves()
	} else if i := slices.Index(ct.reads, t); i >= 0 {
		ct.reads = slices.Delete(ct.reads, i, i+1)
		delete(ct.client.shared, t.id)
		ct.relay.lose(t)
		ct.disperse(t.engine.wants)
	} else {
		return false
	}
	ct.client.freed()
	return true
}

// over records that t has ended, and lets the next goroutine here try: successor, if the nodes
// count on it. The release is in the lanes by now, so it runs before the next goroutine's commands.
func (c *core) over(t *tenure, successor *place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	successor.succeed() // whatever has become of t: nobody else wakes it
	ct := t.contest
	if ct == nil || !ct.end(t) {
		return
	}
	ct.yield(t)
	if ct.chance > 0 {
		ct.wakeLater(ct.chance, false)
	} else {
		ct.wakeHead(false)
	}
	if successor == nil {
		ct.successor().succeed()
	}
	ct.tidy()
}

// expects reports whether somebody here waits for t to end, and which queuer is its successor.
// Called with mu and t.mu held.
func (ct *contest) expects(t *tenure) (successor *place, waited bool) {
	if !t.reads {
		successor = ct.successor()
	}
	return successor, len(ct.queue) > 0
}

// successor returns the queuer that is probably next, if it is known to be one of this process;
// nil: there is none. It need not wait for the message from the nodes. Called with mu held.
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

// succeed makes p, unless it is nil, ask for the lock as its successor. Called with mu held.
func (p *place) succeed() {
	if p != nil {
		p.successor = true
		p.stir(true)
	}
}

// downgrade moves t, which writes, to the tenures that read. Called with mu held.
func (ct *contest) downgrade(t *tenure) {
	ct.tenure = nil
	// Not the latest tenure: others do not join it.
	ct.reads = append([]*tenure{t}, ct.reads...)
}

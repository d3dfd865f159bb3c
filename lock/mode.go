package lock

// A tenure that writes turns into one that reads when nobody within it writes any more: after a downgrade, after
// the loss of the last lease to write, or because its writers have not come back for a while. It never turns back.

// readOn turns t, in which nobody writes and some read, into a tenure that reads: it has given out
// its last token. Goroutines that wait for it here ask the nodes. The nodes must be told. Called
// with mu and t.mu held.
func (ct *contest) readOn(t *tenure) {
	t.reads = true
	t.joining = &joining{closed: true} // the waiters are not known
	t.reserve.top = t.reserve.last
	ct.downgrade(t)
	ct.disband(everybody)
}

// readOn has the hold, and its tenure, read from now on, if it has only leases to read left. It reports whether
// that is new: the nodes must be told.
func (h *hold) readOn() bool {
	c := h.engine.client
	c.mu.Lock()
	defer c.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	begins := h.onlyReads() && h.contest.tenure == h.tenure
	if begins {
		h.reader = true
		h.contest.readOn(h.tenure)
	}
	return begins
}

// onlyReads reports whether the hold counts as one that writes, and has only leases to read left. Called with mu held.
func (h *hold) onlyReads() bool {
	return h.over == nil && h.engine.shared != nil && !h.reader && h.writes == 0 && len(h.leases) > 0
}

// readsOn returns the hold that has lost its last lease to write, one of those over, and keeps leases to read; nil if
// there is none. Where the name is to rest after an expiry (WithRest), nobody is to come in for that, so the hold goes
// on as it is. Called with mu held.
func (t *tenure) readsOn(over []*Lease) *hold {
	for _, l := range over {
		if !l.reads && l.hold.onlyReads() && t.engine.set.rest == 0 {
			return l.hold
		}
	}
	return nil
}

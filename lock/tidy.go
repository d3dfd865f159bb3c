package lock

import "time"

// tidy drops a contest that nobody needs. Called with mu held.
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
	if ct.tenure != nil || len(ct.reads) > 0 {
		return // somebody may come back at any moment
	}
	if ct.wakes != nil {
		ct.wakes.Close()
		ct.wakes = nil
	}
	if ct.later != nil || ct.elsewhere.deaf || ct.rivals.remembers() {
		ct.fade()
		return
	}
	ct.forget()
}

// fade keeps the contest for as long as what it remembers of others may count, at most. Called with mu held.
func (ct *contest) fade() {
	if ct.fades != nil {
		ct.fades.Reset(farLife)
		return
	}
	ct.fades = time.AfterFunc(farLife, func() {
		ct.client.mu.Lock()
		defer ct.client.mu.Unlock()
		ct.fades = nil
		if len(ct.queue) == 0 && ct.tenure == nil {
			ct.calm()
			ct.forget()
		}
	})
}

// forget drops the contest, unless that is done and there is another one. Called with mu held.
func (ct *contest) forget() {
	if ct.isCurrent() {
		delete(ct.client.contests, ct.key)
	}
}

// isCurrent reports whether ct is what this process knows of the name. Called with mu held.
func (ct *contest) isCurrent() bool { return ct.client.contests[ct.key] == ct }

// calm takes back a wakeLater. Called with mu held.
func (ct *contest) calm() {
	if ct.later != nil {
		ct.later.Stop()
		ct.later = nil
	}
}

package redlock

import (
	"slices"
	"sync"
)

// A Footprint records which nodes have the key of one hold, or of those that it has absorbed, or may
// have one. The end of the hold has to clean it up. It is safe for concurrent use; create one with
// [Group.NewFootprint] for each hold.
type Footprint struct {
	mu     sync.Mutex
	closed bool    // the hold has ended: nothing may create the key any more
	traces []trace // by node
}

// A trace records what one node has of a hold. The key is certainly absent only if neither flying,
// nor present, nor unknown is set.
type trace struct {
	flying  uint16 // creating commands without an answer yet
	present bool   // a creating command has left something
	unknown bool   // a creating command may have run, or may run later
	late    bool   // of present: answered after the end of the hold
	voided  bool   // a removal has left a mark, which no creating command gets past while it lives
	grant   uint64 // number of the last grant, in the order in which the group heard of all grants; 0: none, or forgotten
}

// NewFootprint returns the footprint of a hold that no node has yet.
func (g *Group) NewFootprint() *Footprint {
	if len(g.nodes) == 1 { // in one piece where that is common
		f := new(struct {
			Footprint
			one [1]trace
		})
		f.traces = f.one[:]
		return &f.Footprint
	}
	return &Footprint{traces: make([]trace, len(g.nodes))}
}

// Close forbids all commands that would create the key from now on, except those already sent.
func (f *Footprint) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
}

// Absorb has the removal of f's hold remove that of other, too, which is closed: it is sent to every node
// that has either. It does nothing and returns false if a command may yet create other's key.
func (f *Footprint) Absorb(other *Footprint) bool {
	other.mu.Lock()
	defer other.mu.Unlock()
	for i := range other.traces {
		if t := &other.traces[i]; t.flying > 0 || t.unknown {
			return false
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range other.traces {
		t, o := &f.traces[i], &other.traces[i]
		t.present, t.late = t.present || o.present, t.late || o.late
		*o = trace{}
	}
	return true
}

// create reports whether a creating command may be sent to node, and records that it is.
func (f *Footprint) create(node int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.traces[node].flying++
	return true
}

// created records how a creating command ended. grant is the number of the grant; 0: it is none.
func (f *Footprint) created(node int, left, known bool, grant uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &f.traces[node]
	t.flying--
	if t.voided {
		return // it ran before the removal, or finds the mark, whatever came of its answer; later than that, it leaves a key for a TTL (I5)
	}
	t.present = t.present || left
	t.late = t.late || left && f.closed
	t.unknown = t.unknown || !known
	t.grant = max(t.grant, grant)
}

// Grant returns when node last granted the hold, as a number that grows with each grant that any node
// has answered to any hold of the group. It is 0 if it never did, or if [Footprint.Forget] was called since.
func (f *Footprint) Grant(node int) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.traces[node].grant
}

// Forget records that node no longer has what it gave with grant. It reports whether that was its last grant.
func (f *Footprint) Forget(node int, grant uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &f.traces[node]
	last := t.grant == grant
	if last {
		t.grant = 0
	}
	return last
}

// remove returns what is needed to be sure that the key is gone from node: nothing, a removal, or a
// removal with a mark for a command that may come later.
func (f *Footprint) remove(node int) (needed, mark bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &f.traces[node]
	mark = t.flying > 0 || t.unknown
	return t.present || mark, mark
}

// removed records that node has confirmed the removal, which had a mark or not.
func (f *Footprint) removed(node int, marked bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &f.traces[node]
	t.present, t.unknown, t.late, t.grant = false, false, false, 0
	t.voided = t.voided || marked
}

// open reports whether the key may be on node for longer than its TTL after the end of the hold: a
// node that was stopped runs the commands sent before when it resumes, even hours later, whether or
// not the connection still exists.
func (f *Footprint) open(node int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &f.traces[node]
	return t.flying > 0 || t.unknown || t.late
}

// Has reports whether node has said that it has the key, and has not confirmed its removal since.
func (f *Footprint) Has(node int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.traces[node].present
}

// Gone reports whether a quorum of nodes certainly does not have the key.
func (f *Footprint) Gone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	without := 0
	for i := range f.traces {
		if t := &f.traces[i]; t.flying == 0 && !t.present && !t.unknown {
			without++
		}
	}
	return without >= len(f.traces)/2+1
}

// Present reports whether any node has said that it has the key.
func (f *Footprint) Present() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.traces, func(t trace) bool { return t.present })
}

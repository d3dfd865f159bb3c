package redlock

import (
	"slices"
	"sync"
)

// A Footprint records which nodes have the key of one hold, or of those that it has absorbed, or may
// have one. The end of the hold has to clean it up. It is safe for concurrent use; create one with [Group.NewFootprint] for each
// hold.
type Footprint struct {
	mu     sync.Mutex
	closed bool     // the hold has ended: nothing may create the key any more
	others bool     // it has absorbed some
	few    [5]trace // of the first nodes
	more   *[]trace // of the others; nil: there are none
}

func (f *Footprint) trace(node int) *trace {
	if node < len(f.few) {
		return &f.few[node]
	}
	return &(*f.more)[node-len(f.few)]
}

// size is the number of nodes, or more.
func (f *Footprint) size() int {
	if f.more == nil {
		return len(f.few)
	}
	return len(f.few) + len(*f.more)
}

// A trace records what one node has of a hold. The key is certainly absent only if no field is set.
type trace struct {
	flying  uint16 // creating commands without an answer yet
	present bool   // a creating command was answered with yes
	unknown bool   // a creating command may have run, or may run later
	late    bool   // of present: answered after the end of the hold
}

// NewFootprint returns the footprint of a hold that no node has yet.
func (g *Group) NewFootprint() *Footprint {
	f := new(Footprint)
	if n := len(g.nodes) - len(f.few); n > 0 {
		more := make([]trace, n)
		f.more = &more
	}
	return f
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
	for i := range other.size() {
		if t := other.trace(i); t.flying > 0 || t.unknown {
			return false
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.others = true
	for i := range other.size() {
		t, o := f.trace(i), other.trace(i)
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
	f.trace(node).flying++
	return true
}

// created records how a creating command ended.
func (f *Footprint) created(node int, yes, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.trace(node)
	t.flying--
	t.present = t.present || yes
	t.late = t.late || yes && f.closed
	t.unknown = t.unknown || !known
}

// remove returns what is needed to be sure that the key is gone from node: nothing, a removal, or a
// removal with a mark for a command that may come later.
func (f *Footprint) remove(node int) (needed, mark bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.trace(node)
	mark = t.flying > 0 || t.unknown
	return t.present || mark, mark
}

// isShared reports whether the removal of f's hold is that of others, too.
func (f *Footprint) isShared() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.others
}

// removed records that node has confirmed the removal.
func (f *Footprint) removed(node int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.trace(node)
	t.present, t.unknown, t.late = false, false, false
}

// open reports whether the key may be on node for longer than its TTL after the end of the hold: a
// node that was stopped runs the commands sent before when it resumes, even hours later, whether or
// not the connection still exists.
func (f *Footprint) open(node int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.trace(node)
	return t.flying > 0 || t.unknown || t.late
}

// Has reports whether node has said that it has the key, and has not confirmed its removal since.
func (f *Footprint) Has(node int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trace(node).present
}

// Present reports whether any node has said that it has the key.
func (f *Footprint) Present() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	present := func(t trace) bool { return t.present }
	return slices.ContainsFunc(f.few[:], present) || f.more != nil && slices.ContainsFunc(*f.more, present)
}

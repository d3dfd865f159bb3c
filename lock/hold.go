package lock

import (
	"context"
	"strconv"
	"time"
)

// A hold lasts from an owner's first lease on a name to its last unlock. Holds of this process may
// follow one another within a tenure: each has a token of its own, but the nodes know only the
// tenure.
type hold struct {
	*tenure
	slot   *slot   // immutable once granted
	number int     // within the tenure, from 1, or of the id with which it waited in a queue on the nodes; immutable
	by     *engine // of its first lease: that of its tenure may have other options, or spell the name in another way; immutable

	// Guarded by the tenure's mu.
	token    int64
	index    int32  // in the tenure's present, while it is in progress
	writes   int32  // leases that are not over and write; of a read-write lock
	pending  int32  // leases, over or not, whose Unlock has not been called
	reason   Reason // why it is over; that of the tenure may be another
	warned   bool   // that others of this client wait for it
	reader   bool   // it never writes again
	mark     byte   // that follows the number in that id; 0: none; immutable
	began    time.Time
	leases   []*Lease        // leases that are not over, in no order
	earliest Lease           // the first one
	list     [1]*Lease       // of leases, until there are more
	over     error           // nil, ErrLost or ErrReleased
	observed context.Context // that its end is told with; nil: to nobody, or somebody does
}

// name returns the hold's id: the tenure's id, which the nodes know, followed by the hold's number
// unless it is the first.
func (h *hold) name() string {
	if h == &h.first {
		return h.id
	}
	name := append(append(make([]byte, 0, 64), h.id...), '.')
	name = strconv.AppendInt(name, int64(h.number), 10)
	if h.mark != 0 {
		name = append(name, h.mark)
	}
	return string(name)
}

// about returns the log attributes of h.
func (h *hold) about() []any {
	about := []any{"name", h.by.name, "hold", h.name(), "token", h.token}
	if label := h.engine.client.label; label != "" {
		about = append(about, "label", label)
	}
	if note := h.engine.set.note; note != "" {
		about = append(about, "note", note)
	}
	return about
}

// lease adds a lease of e that is valid until deadline and begins at start. It is called with mu
// held, or before the hold is known to others.
func (h *hold) lease(e *engine, start, deadline time.Time) *Lease {
	set, reads := &e.set, e.reads()
	l := &h.earliest
	if l.hold == nil {
		h.by = e
	} else {
		l = new(Lease)
	}
	l.hold = h
	l.aliased = e.name != h.by.name
	l.count = int32(len(h.leases) + 1)
	l.index = int32(len(h.leases))
	l.deadline = deadline
	l.renew = set.renew
	if l.reads = reads; !reads {
		h.writes++
	}
	if set.maxHold > 0 {
		until := start.Add(set.maxHold)
		l.renewUntil = &until
	}
	if h.leases == nil {
		h.leases = h.list[:0]
	}
	h.leases = append(h.leases, l)
	h.pending++
	h.ttl = max(h.ttl, set.ttl)
	return l
}

// isOver reports whether the hold is lost or released.
func (h *hold) isOver() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over != nil
}

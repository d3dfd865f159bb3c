package main

import (
	"cmp"
	"slices"
)

// checkExclusion finds two holds that were valid at once (I1). A lease counts from the
// moment at which Lock had returned it until what its holder knew for the end.
func checkExclusion(h *History) []Violation {
	found, _ := overlaps(h)
	return found
}

// overlaps finds pairs of valid leases of two holds at one time, and counts those for
// which a fault had taken away what exclusion rests on.
func overlaps(h *History) (found []Violation, excused int) {
	latest := make(map[string]*Call)  // by lock: of those granted before, which ends last
	writers := make(map[string]*Call) // the same of those that do not only read
	leases := h.leases()
	slices.SortFunc(leases, func(a, b *Call) int { return cmp.Compare(a.Return, b.Return) })
	for _, b := range leases {
		if h.end(b) <= b.Return || isSemaphore(b.Name) {
			continue // over before it was seen
		}
		a := latest[b.Name]
		if b.Reads {
			a = writers[b.Name] // others that read leave it room
		}
		if a != nil && a.Hold != b.Hold && b.Return < h.end(a) {
			if f := h.excuse(min(a.Start, b.Start), b.Return); f != nil {
				excused++
			} else {
				found = append(found, violation(b.Return,
					"%q: %s, and %s at once", b.Name, h.tell(a), h.tell(b)))
			}
		}
		if a := latest[b.Name]; a == nil || h.end(b) > h.end(a) {
			latest[b.Name] = b
		}
		if a := writers[b.Name]; !b.Reads && (a == nil || h.end(b) > h.end(a)) {
			writers[b.Name] = b
		}
	}
	return found, excused
}

// excuse finds a fault that took away what exclusion rests on, after the first of some
// leases was asked for and before the last was granted. Those that were asked for after
// the fault rest on firm ground again.
func (h *History) excuse(from, until int64) *Fault {
	for i := range h.Faults {
		f := &h.Faults[i]
		if f.Kind.breaks() && f.Began <= until && (f.Ended == 0 || f.Ended >= from) {
			return f
		}
	}
	return nil
}

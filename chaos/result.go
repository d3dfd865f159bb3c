package main

import (
	"fmt"
	"time"
)

// A Result is what came of a cell.
type Result struct {
	Cell       Cell
	Seed       uint64
	Operations int // calls of Lock, TryLock and Unlock
	Leases     int
	Faults     int
	Excused    int // pairs of holders at once, after a fault that exclusion is not promised under
	Violations int
	Busy       int           // violations that are excused, as the machine was too busy
	Stall      time.Duration // the longest time for which nobody had a lock, though a quorum was well and somebody waited
	Story      []string      // of the violations, and of what kept the run from being one
	Err        error
}

// most is how many violations of one kind are told; the rest are counted.
const most = 5

// runCell runs a cell and has every checker look at what happened.
func runCell(c Cell, seed uint64) *Result {
	r := &Result{Cell: c, Seed: seed}
	h, err := (&Run{Cell: c, Seed: seed}).Do()
	if err != nil {
		r.Err = err
		r.Story = append(r.Story, "the run failed: "+err.Error())
	}
	if h == nil {
		return r
	}
	r.Faults = len(h.Faults)
	for _, c := range h.Calls {
		r.Operations++
		if c.granted() {
			r.Leases++
		}
		if c.Unlock > 0 {
			r.Operations++
		}
	}
	_, r.Excused = overlaps(h)
	for _, name := range h.names() {
		stall, _ := h.stall(name, everyone)
		r.Stall = max(r.Stall, time.Duration(stall))
	}
	found := check(h)
	r.Busy = len(check(h.rested())) - len(found)
	r.tell(h, found)
	return r
}

// tell puts the first violations of each kind into words, with the faults around them.
func (r *Result) tell(h *History, found []Violation) {
	r.Violations = len(found)
	told := make(map[string]int)
	for _, v := range found {
		if told[v.Checker]++; told[v.Checker] > most {
			continue
		}
		r.Story = append(r.Story, fmt.Sprintf("%s at %s: %s", v.Checker, h.seconds(v.At), v.Text))
		for _, f := range h.Faults {
			if f.Began < v.At && (f.Ended == 0 || f.Ended > v.At-int64(3*time.Second)) {
				r.Story = append(r.Story, fmt.Sprintf("    from %s until %s: %s", h.seconds(f.Began), h.seconds(f.Ended), f))
			}
		}
	}
	for _, c := range checkers {
		if more := told[c.name] - most; more > 0 {
			r.Story = append(r.Story, fmt.Sprintf("%s: and %d more", c.name, more))
		}
	}
}

func (r *Result) ok() bool { return r.Err == nil && r.Violations == 0 }

// again is the command that runs it again.
func (r *Result) again() string {
	s := fmt.Sprintf("go run . -cell %q -seed %d", r.Cell, r.Seed)
	if r.Cell.Duration != base.Duration {
		s += fmt.Sprint(" -duration ", r.Cell.Duration)
	}
	return s
}

// String is a line about it.
func (r *Result) String() string {
	s := fmt.Sprintf("%-40s seed %-4d %5d operations %4d faults %3d violations, no progress for %v at most",
		r.Cell, r.Seed, r.Operations, r.Faults, r.Violations, r.Stall.Round(time.Millisecond))
	if r.Busy > 0 {
		s += fmt.Sprintf("; %d more excused, as the machine was too busy", r.Busy)
	}
	return s
}

// total adds results of the same cells with another seed to a sum.
func total(sum, results []*Result) []*Result {
	if sum == nil {
		return append(sum, results...)
	}
	for i, r := range results {
		s := sum[i]
		s.Operations += r.Operations
		s.Leases += r.Leases
		s.Faults += r.Faults
		s.Excused += r.Excused
		s.Violations += r.Violations
		s.Busy += r.Busy
		s.Stall = max(s.Stall, r.Stall)
		if s.Err == nil {
			s.Err = r.Err
		}
	}
	return sum
}

package main

import (
	"fmt"
	"io"
	"time"
)

// enough is the least share of the mutants that must be killed.
const enough = 0.95

// A Report is what became of all mutants.
type Report struct {
	Verdicts []Verdict
	Took     time.Duration
}

// line tells of one mutant.
func (v Verdict) line() string {
	s := fmt.Sprintf("%-10s %5.1f s  %s: %s", v.Fate, v.Took.Seconds(), v.File, v.Name)
	switch {
	case v.Err != nil:
		s += "\n    " + v.Err.Error()
	case v.Fate == Equivalent:
		s += " (" + v.Equivalent + ")"
	case v.By != "":
		s += " (" + v.By + ")"
	case v.Fate != Killed:
		s += fmt.Sprintf(" (%s: %s)", v.Package, v.Tests)
	}
	return s
}

// count is how many mutants met a fate.
func (r *Report) count(f Fate) int {
	n := 0
	for _, v := range r.Verdicts {
		if v.Fate == f {
			n++
		}
	}
	return n
}

// share is how many of those mutants were killed that can be.
func (r *Report) share() float64 {
	of := len(r.Verdicts) - r.count(Equivalent)
	if of == 0 {
		return 1
	}
	return float64(r.count(Killed)) / float64(of)
}

// ok tells whether the tests are good enough: nothing went wrong, enough mutants are dead,
// and none outlived its time.
func (r *Report) ok() bool {
	return r.count(Failed) == 0 && r.count(Late) == 0 && r.share() >= enough
}

// write sums up, those that live last: they are what there is to do.
func (r *Report) write(w io.Writer) {
	fmt.Fprintf(w, "\n%d mutants in %v: %d killed, %d survived, %d late, %d equivalent, %d errors: %.1f %% of those that can be killed\n",
		len(r.Verdicts), r.Took.Round(time.Second),
		r.count(Killed), r.count(Survived), r.count(Late), r.count(Equivalent), r.count(Failed), 100*r.share())
	for _, v := range r.Verdicts {
		if v.Fate == Survived || v.Fate == Late || v.Fate == Failed {
			fmt.Fprintln(w, v.line())
		}
	}
}

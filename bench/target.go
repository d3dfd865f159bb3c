package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A target is something to reach.
type target struct {
	what    string
	got     float64
	limit   float64
	atLeast bool // otherwise: at most

	peer   string // the best one of this run, which was measured beside; "": the target names what was
	floors []floor
	past   past // this run included
}

// A floor shows what can be reached here: it does no more than must be done.
type floor struct {
	name string
	got  float64 // not a number: it was not measured
}

func atLeast(what string, got, limit float64) target {
	return target{what: what, got: got, limit: limit, atLeast: true}
}

func atMost(what string, got, limit float64) target {
	return target{what: what, got: got, limit: limit}
}

// beside names the best peer of this run. It is no part of the target, so that runs in which others were the best
// are judged together.
func (t target) beside(peer string) target {
	t.peer = peer
	return t
}

// floored adds what a floor reaches.
func (t target) floored(by string, got float64) target {
	t.floors = append(slices.Clip(t.floors), floor{by, got})
	return t
}

// met tells whether the median of all runs reaches the target; of this one if no others
// are kept.
func (t target) met() bool {
	got := t.got
	if len(t.past.values) > 0 {
		got = median(t.past.values)
	}
	if t.atLeast {
		return got >= t.limit
	}
	return got <= t.limit
}

// verdict is met in words.
func (t target) verdict() string {
	switch {
	case math.IsNaN(t.got):
		return "not measured"
	case !t.met():
		return "not met"
	case t.past.days == 1:
		return "met, on one day"
	}
	return "met"
}

// printTargets writes each beside what was measured, and what a floor reaches.
func printTargets(w io.Writer, list []target) {
	t := &table{title: []string{"to reach", "limit", "measured", "all runs", "floor", ""}}
	for _, g := range list {
		sign := "at most"
		if g.atLeast {
			sign = "at least"
		}
		var floors []string
		for _, f := range g.floors {
			if !math.IsNaN(f.got) {
				floors = append(floors, amount(f.got)+", "+f.name)
			}
		}
		measured := amount(g.got)
		if g.peer != "" {
			measured += ", " + g.peer
		}
		t.rows = append(t.rows, []string{g.what, fmt.Sprintf("%s %g", sign, g.limit), measured, g.past.String(), strings.Join(floors, "; "), g.verdict()})
	}
	t.print(w)
}

// amount shows a number with three digits or more.
func amount(v float64) string {
	switch {
	case math.Abs(v) >= 100:
		return digits(v, 0)
	case math.Abs(v) >= 10:
		return digits(v, 1)
	}
	return digits(v, 2)
}

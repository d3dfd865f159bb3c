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

	floors []floor
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

// floored adds what a floor reaches.
func (t target) floored(by string, got float64) target {
	t.floors = append(slices.Clip(t.floors), floor{by, got})
	return t
}

func (t target) met() bool {
	if t.atLeast {
		return t.got >= t.limit
	}
	return t.got <= t.limit
}

// printTargets writes each beside what was measured, and what a floor reaches.
func printTargets(w io.Writer, list []target) {
	t := &table{title: []string{"to reach", "limit", "measured", "floor", ""}}
	for _, g := range list {
		sign, verdict := "at most", "not met"
		if g.atLeast {
			sign = "at least"
		}
		switch {
		case math.IsNaN(g.got):
			verdict = "not measured"
		case g.met():
			verdict = "met"
		}
		var floors []string
		for _, f := range g.floors {
			if !math.IsNaN(f.got) {
				floors = append(floors, amount(f.got)+", "+f.name)
			}
		}
		t.rows = append(t.rows, []string{g.what, fmt.Sprintf("%s %g", sign, g.limit), amount(g.got), strings.Join(floors, "; "), verdict})
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

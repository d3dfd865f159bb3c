package main

import (
	"fmt"
	"io"
	"math"
)

// A target is something to reach.
type target struct {
	what    string
	got     float64
	limit   float64
	atLeast bool // otherwise: at most

	floor string  // who shows what can be reached here: it does no more than must be done
	least float64 // what floor has in place of got; not a number: it was not measured
}

func atLeast(what string, got, limit float64) target {
	return target{what: what, got: got, limit: limit, atLeast: true}
}

func atMost(what string, got, limit float64) target {
	return target{what: what, got: got, limit: limit}
}

// floored adds what a floor reaches.
func (t target) floored(by string, least float64) target {
	t.floor, t.least = by, least
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
		least := ""
		if g.floor != "" && !math.IsNaN(g.least) {
			least = amount(g.least) + ", " + g.floor
		}
		t.rows = append(t.rows, []string{g.what, fmt.Sprintf("%s %g", sign, g.limit), amount(g.got), least, verdict})
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

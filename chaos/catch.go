package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// A Catch is what became of a mutant.
type Catch struct {
	Mutant Mutant
	Found  []Violation // the first of each checker that found something
	Calls  int         // of Lock and TryLock, until then
	After  time.Duration
	Err    error
}

func (c *Catch) caught() bool {
	return slices.ContainsFunc(c.Found, func(v Violation) bool { return v.Checker == c.Mutant.By })
}

// String is a line about it.
func (c *Catch) String() string {
	s := fmt.Sprintf("%s: caught %v, after %d calls in %v", c.Mutant.Name, c.caught(), c.Calls, c.After.Round(time.Millisecond))
	if c.Err != nil {
		s += ": " + c.Err.Error()
	}
	for _, v := range c.Found {
		s += fmt.Sprintf("\n    %s: %s", v.Checker, v.Text)
	}
	return s
}

// A mutant is tried with so many seeds, and for so long with each: a bug shows itself
// only if things go wrong at the right moment.
const (
	mutantTries = 3
	mutantRun   = 30 * time.Second
)

// catch runs a mutant until its checker has found it.
func catch(m Mutant) *Catch {
	c := &Catch{Mutant: m}
	dir := scratch("mutant")
	defer os.RemoveAll(dir)
	program, err := plant(m, dir)
	if err != nil {
		c.Err = err
		return c
	}
	for try := range max(m.Tries, mutantTries) {
		c.Mutant.Seed = m.Seed + uint64(try) + 1
		r := Run{Cell: m.Cell, Seed: c.Mutant.Seed, Worker: program}
		if findsAtOnce(m.By) {
			r.Cell.Duration = mutantRun
		}
		r.Until = func(h *History) bool {
			c.look(h, true)
			return c.caught()
		}
		h, err := r.Do()
		if h == nil {
			c.Err = err
			return c
		}
		if c.look(h, h.Healed == 0); c.caught() {
			break
		}
	}
	return c
}

// look notes what the checkers find in h.
func (c *Catch) look(h *History, running bool) {
	c.Found = nil
	c.Calls = len(h.Calls)
	c.After = time.Duration(h.End - h.Start)
	for _, k := range checkers {
		if running && !k.running {
			continue
		}
		if found := k.check(h); len(found) > 0 {
			found[0].Checker = k.name
			c.Found = append(c.Found, found[0])
		}
	}
}

// findsAtOnce tells whether a checker can judge a run that has not ended.
func findsAtOnce(name string) bool {
	return slices.ContainsFunc(checkers, func(c checker) bool { return c.name == name && c.running })
}

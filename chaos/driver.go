package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// A driver runs cells and mutants, and tells what came of them.
type driver struct {
	cell, mutant string
	seed         uint64
	duration     time.Duration
	soak         time.Duration
	parallel     int
	out          io.Writer // the tables, and what went wrong
	log          io.Writer // each run as it ends
}

// run does what was asked for: without a choice, every cell and every mutant. It tells
// whether the library kept its promises and every planted bug was found.
func (d *driver) run() bool {
	if d.soak > 0 {
		return d.again()
	}
	ok, some := true, false
	if cells := d.cells(); d.cell != "" || d.mutant == "" {
		results := d.runCells(cells, d.seed)
		printCells(d.out, results)
		ok, some = d.explain(results), len(cells) > 0
	}
	if chosen := d.mutants(); len(chosen) > 0 {
		catches := each(d.parallel, chosen, func(m Mutant) *Catch {
			c := catch(m)
			fmt.Fprintln(d.log, c)
			return c
		})
		fmt.Fprintln(d.out)
		printMutants(d.out, catches)
		for _, c := range catches {
			ok = ok && c.caught()
		}
		some = true
	}
	if !some {
		fmt.Fprintln(d.out, "nothing is called that")
	}
	return ok && some
}

// again runs the cells over and over until the time is up.
func (d *driver) again() bool {
	ok := true
	var sum []*Result
	for seed, end := d.seed, time.Now().Add(d.soak); time.Now().Before(end); seed++ {
		results := d.runCells(d.cells(), seed)
		ok = d.explain(results) && ok
		sum = total(sum, results)
		fmt.Fprintf(d.out, "\nseeds %d to %d\n\n", d.seed, seed)
		printCells(d.out, sum)
	}
	return ok
}

func (d *driver) cells() []Cell {
	var chosen []Cell
	all := cells()
	for i := range all {
		c := all[i]
		if !strings.Contains(c.String(), d.cell) {
			continue
		}
		c, left := c.feasible()
		if len(left) > 0 {
			fmt.Fprintf(d.out, "%s: left out %q, as there is no C compiler (%s)\n", c, left, compiler)
			if len(c.Faults) == 0 {
				continue
			}
		}
		if d.duration > 0 {
			c.Duration = d.duration
		}
		chosen = append(chosen, c)
	}
	return chosen
}

func (d *driver) mutants() []Mutant {
	var chosen []Mutant
	all := mutants()
	for i := range all {
		m := all[i]
		if d.mutant == "all" || strings.Contains(m.Name, d.mutant) && (d.mutant != "" || d.cell == "") {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

func (d *driver) runCells(cells []Cell, seed uint64) []*Result {
	return each(d.parallel, cells, func(c Cell) *Result {
		r := runCell(c, seed)
		fmt.Fprintln(d.log, r)
		return r
	})
}

// explain prints what went wrong, and how to have it again.
func (d *driver) explain(results []*Result) bool {
	ok := true
	for _, r := range results {
		if r.ok() {
			continue
		}
		ok = false
		fmt.Fprintf(d.out, "\n%s, seed %d:\n", r.Cell, r.Seed)
		for _, line := range r.Story {
			fmt.Fprintln(d.out, "  ", line)
		}
		fmt.Fprintf(d.out, "  again: %s\n", r.again())
	}
	return ok
}

// schedules prints the faults of the chosen cells.
func (d *driver) schedules() {
	chosen := d.cells()
	for i := range chosen {
		c := chosen[i]
		fmt.Fprintf(d.out, "%s, seed %d\n", c, d.seed)
		for _, f := range schedule(c, d.seed) {
			fmt.Fprintln(d.out, "  ", f)
		}
	}
}

// each does something for each item, so many at a time, and keeps their order.
func each[I, O any](most int, items []I, do func(I) O) []O {
	done := make([]O, len(items))
	slots := make(chan struct{}, max(most, 1))
	var all sync.WaitGroup
	for i, item := range items {
		slots <- struct{}{}
		all.Go(func() {
			done[i] = do(item)
			<-slots
		})
	}
	all.Wait()
	return done
}

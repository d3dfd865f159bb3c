package main

import (
	"fmt"
	"slices"
	"time"
)

var readerColumns = []column{
	{title: "pairs/s", figure: rate, format: whole},
	{title: "wait p50 ms", figure: waitP50, format: millis},
	{title: "p99", figure: waitP99, format: millis},
	{title: "longest", figure: waitMax, format: millis},
	{title: "commands", figure: commands, format: tenths},
	{title: "CPU µs", figure: cpu, format: whole},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// readMostly is goroutines of one process, and of eight, that lock one name, 99 times of 100 to read.
func readMostly(b *bench) error {
	t := newTable([]string{"N", "processes", "goroutines", "contender"}, readerColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		for _, processes := range []int{1, 8} {
			for _, workers := range b.crowds(64) {
				s, err := b.compare(b.sharing(n), func(c contender) (figures, error) {
					trial := b.on(n, job{Workers: workers, Reads: 99}, b.span)
					if processes > 1 {
						trial.processes = processes
					}
					return b.try(c, trial)
				})
				if err != nil {
					return err
				}
				t.add(s, readerColumns, fmt.Sprint(n), fmt.Sprint(processes), fmt.Sprint(workers))
				if n == 1 {
					times := 100.0
					if processes > 1 {
						times = 20
					}
					targets = append(targets, atLeast(fmt.Sprintf("%d processes, %d goroutines: pairs/s ÷ counting's", processes, workers),
						s.ratio("readwrite", rate, "counting"), times))
				}
			}
		}
	}
	b.show(t, targets)
	return nil
}

// readers is one goroutine that writes among others that read, and hold the lock for a while. What is
// recorded is what the one does.
func readers(b *bench) error {
	t := newTable([]string{"N", "who reads", "hold", "contender"}, readerColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		for _, workers := range b.crowds(64) {
			s, err := b.compare(b.sharing(n), func(c contender) (figures, error) {
				return b.try(c, b.on(n, job{Workers: workers + 1, Hold: hold, Writers: 1}, 2*b.span))
			})
			if err != nil {
				return err
			}
			t.add(s, readerColumns, fmt.Sprint(n), fmt.Sprint(workers), hold.String())
			targets = append(targets, atMost(fmt.Sprintf("N = %d: wait of one who writes among %d who read for %v, p99, ms", n, workers, hold),
				s.median("readwrite", waitP99)/1e3, 2*float64(hold)/float64(time.Millisecond)+1.2))
		}
	}
	b.show(t, targets)
	return nil
}

// sharing are the contenders that take part where some read.
func (b *bench) sharing(n int) []contender {
	return slices.DeleteFunc(b.among(n, "readwrite", "counting"), func(c contender) bool { return !c.shares })
}

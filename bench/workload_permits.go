package main

import (
	"fmt"
	"time"
)

var permitColumns = []column{
	{title: "pairs/s", figure: rate, format: whole},
	{title: "p50 µs", figure: p50, format: short},
	{title: "wait p50 ms", figure: waitP50, format: millis},
	{title: "p99", figure: waitP99, format: millis},
	{title: "longest", figure: waitMax, format: millis},
	{title: "commands", figure: commands, format: tenths},
	{title: "Jain", figure: fairness, format: thousandths},
	{title: "CPU µs", figure: cpu, format: whole},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// permitRun is what one line of the table is about.
type permitRun struct {
	processes, workers int
	hold               time.Duration
}

// permitsOf is goroutines that take permits of one name with room for sixteen, and one that takes a free one. An
// overlap is a seventeenth holder.
func permitsOf(b *bench) error {
	t := newTable([]string{"N", "processes", "goroutines", "hold", "contender"}, permitColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		s, err := b.compare(b.among(n, "holdfast", "semaphore", "polling"), func(c contender) (figures, error) {
			return b.try(c, b.on(n, job{Workers: 1, Own: true}, b.span))
		})
		if err != nil {
			return err
		}
		t.add(s, permitColumns, fmt.Sprint(n), "1", "1, free", "0s")
		targets = append(targets, atMost(fmt.Sprintf("N = %d: p50 of a free permit ÷ of a free lock", n), s.ratio("semaphore", p50, "holdfast"), 1.15))
		few := 0.0 // commands of a pair
		for _, r := range []permitRun{{1, 128, 0}, {1, permits + 64, hold}, {8, 128, 0}, {8, 512, 0}} {
			names := []string{"semaphore", "polling"}
			if r.processes == 1 {
				names = append(names, "channel")
			}
			s, err := b.compare(b.among(n, names...), func(c contender) (figures, error) {
				trial := b.on(n, job{Workers: r.workers, Hold: r.hold, Room: c.room}, b.hotSpan(r.workers/permits, 8, r.hold))
				if r.processes > 1 {
					trial.processes = r.processes
				}
				return b.try(c, trial)
			})
			if err != nil {
				return err
			}
			t.add(s, permitColumns, fmt.Sprint(n), fmt.Sprint(r.processes), fmt.Sprint(r.workers), r.hold.String())
			if n == 1 {
				targets = append(targets, permitTargets(s, r)...)
			}
			switch {
			case r.processes == 1:
			case few == 0:
				few = s.median("semaphore", commands)
			default:
				targets = append(targets, atMost(fmt.Sprintf("N = %d, %d processes: commands of a pair with %d goroutines ÷ with 128", n, r.processes, r.workers),
					s.median("semaphore", commands)/few, 1.25))
			}
		}
	}
	b.show(t, targets)
	return nil
}

func permitTargets(s *samples, r permitRun) []target {
	where := fmt.Sprintf("N = 1, %d processes, %d goroutines, hold %v: ", r.processes, r.workers, r.hold)
	switch {
	case r.hold > 0:
		return []target{atLeast(where+"share of the permits that is in use", s.median("semaphore", rate)*r.hold.Seconds()/permits, 0.9).
			floored("channel", s.median("channel", rate)*r.hold.Seconds()/permits)}
	case r.processes > 1:
		return []target{
			atLeast(where+against("pairs/s", "polling"), s.ratio("semaphore", rate, "polling"), 3),
			atLeast(where+"Jain", s.median("semaphore", fairness), 0.95),
			atMost(where+"commands of a pair", s.median("semaphore", commands), 8),
		}
	default:
		return []target{
			atLeast(where+against("pairs/s", "polling"), s.ratio("semaphore", rate, "polling"), 20).
				floored("channel", s.ratio("channel", rate, "polling")),
			atMost(where+"commands of a pair", s.median("semaphore", commands), 0.5),
		}
	}
}

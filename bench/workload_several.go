package main

import "fmt"

var severalColumns = []column{
	{title: "pairs/s", figure: rate, format: whole},
	{title: "p50 µs", figure: p50, format: short},
	{title: "p99 µs", figure: p99, format: short},
	{title: "commands", figure: commands, format: tenths},
	{title: "CPU µs", figure: cpu, format: whole},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// severalLocks is one goroutine that takes four free names together, beside one that takes one; and programs that take the
// same four, all in one order or each second one in the opposite order.
func severalLocks(b *bench) error {
	t := newTable([]string{"N", "processes", "goroutines", "contender"}, severalColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		s, err := b.compare(b.among(n, "holdfast", "several", "raw", "raw-several"), func(c contender) (figures, error) {
			return b.try(c, b.on(n, job{Workers: 1, Own: true}, b.span))
		})
		if err != nil {
			return err
		}
		t.add(s, severalColumns, fmt.Sprint(n), "1", "1, free")
		limit := 1.5
		if n > 1 {
			limit = 1.3
		}
		targets = append(targets, atMost(fmt.Sprintf("N = %d: p50 of %d free names ÷ of one", n, severalNames), s.ratio("several", p50, "holdfast"), limit).
			floored("raw-several", s.ratio("raw-several", p50, "raw")))
		const programs = 2
		for _, workers := range b.crowds(programs, 8) {
			s, err := b.compare(b.among(n, "several", "several-opposite"), func(c contender) (figures, error) {
				trial := b.on(n, job{Workers: workers, Hold: hold}, b.hotSpan(workers, 8, hold))
				trial.processes = programs
				return b.try(c, trial)
			})
			if err != nil {
				return err
			}
			t.add(s, severalColumns, fmt.Sprint(n), fmt.Sprint(programs), fmt.Sprint(workers))
			targets = append(targets, atLeast(fmt.Sprintf("N = %d, %d goroutines of %d programs: pairs/s in opposite orders ÷ in the same", n, workers, programs),
				s.ratio("several-opposite", rate, "several"), 0.7))
		}
	}
	b.show(t, targets)
	return nil
}

package main

import "fmt"

var fairnessColumns = []column{
	{title: "Jain", figure: fairness, format: thousandths},
	{title: "gap p50 ms", figure: gapP50, format: millis},
	{title: "p99", figure: gapP99, format: millis},
	{title: "wait p50 ms", figure: waitP50, format: millis},
	{title: "longest", figure: waitMax, format: millis},
	{title: "pairs/s", figure: rate, format: whole},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// even is how evenly 128 goroutines are served, and what order costs at each hand-over.
func even(b *bench) error {
	const workers = 128
	t := newTable([]string{"N", "contender"}, fairnessColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		s, err := b.contest(n, workers, 0, hold, 16, "holdfast", "fair")
		if err != nil {
			return err
		}
		t.add(s, fairnessColumns, fmt.Sprint(n))
		where := fmt.Sprintf("N = %d: ", n)
		targets = append(targets,
			atLeast(where+"Jain's index of the fair lock", s.median("fair", fairness), 0.99),
			atMost(where+"gap p50, fair ÷ holdfast", s.ratio("fair", gapP50, "holdfast"), 1.5))
	}
	b.show(t, targets)
	return nil
}

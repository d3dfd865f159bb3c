package main

import "fmt"

var manyColumns = []column{
	{title: "pairs/s", figure: rate, format: whole},
	{title: "p50 µs", figure: p50, format: short},
	{title: "p99 µs", figure: p99, format: short},
	{title: "CPU µs", figure: cpu, format: short},
	{title: "servers' CPU µs", figure: nodeCPU, format: short},
	{title: "allocations", figure: allocs, format: whole},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// many is goroutines that each lock and unlock a name of their own. CPU time and
// allocations are of a pair.
func many(b *bench) error {
	t := newTable([]string{"N", "goroutines", "contender"}, manyColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		for _, workers := range b.crowds(64, 512) {
			list := b.among(n, "holdfast", "fair", "redsync", "redislock", "rueidislock", "raw", "scripts")
			s, err := b.compare(list, func(c contender) (figures, error) {
				return b.try(c, b.on(n, job{Workers: workers, Own: true, Uncounted: true}, b.span))
			})
			if err != nil {
				return err
			}
			t.add(s, manyColumns, fmt.Sprint(n), fmt.Sprint(workers))
			against := func(other string, limit float64) {
				targets = append(targets, atLeast(
					fmt.Sprintf("N = %d, %d goroutines: pairs/s ÷ %s's", n, workers, other),
					s.ratio("holdfast", rate, other), limit).floored("scripts", s.ratio("scripts", rate, other)))
			}
			switch {
			case n == 5:
				against("raw", 0.9)
				if workers == 512 {
					against("redsync", 8)
				}
			case workers == 64:
				against("redislock", 1.5)
				against("redsync", 2)
				against("rueidislock", 1)
			}
		}
	}
	b.show(t, targets)
	return nil
}

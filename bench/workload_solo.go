package main

import "fmt"

var soloColumns = []column{
	{title: "p50 µs", figure: p50, format: short},
	{title: "p99 µs", figure: p99, format: short},
	{title: "CPU µs", figure: cpu, format: short},
	{title: "servers' CPU µs", figure: nodeCPU, format: short},
	{title: "allocations", figure: allocs, format: whole},
	{title: "bytes", figure: bytesPer, format: whole},
}

// solo is one goroutine that locks and unlocks a name of its own. All figures are of a
// pair.
func solo(b *bench) error {
	t := newTable([]string{"N", "contender"}, soloColumns)
	var targets []target
	for _, n := range b.ns(1, 3, 5) {
		list := b.among(n, "holdfast", "fair", "redsync", "redislock", "rueidislock", "raw", "baton", "relay")
		s, err := b.compare(list, func(c contender) (figures, error) {
			return b.try(c, b.on(n, job{Workers: 1, Own: true, Uncounted: true}, b.span))
		})
		if err != nil {
			return err
		}
		t.add(s, soloColumns, fmt.Sprint(n))
		below := func(other string, limit float64) {
			targets = append(targets, atMost(fmt.Sprintf("N = %d: p50 ÷ %s's", n, other), s.ratio("holdfast", p50, other), limit).
				floored("baton", s.ratio("baton", p50, other)).
				floored("relay", s.ratio("relay", p50, other)))
		}
		switch n {
		case 1:
			below("redislock", 1.1)
		case 5:
			below("redsync", 0.75)
		}
	}
	b.show(t, targets)
	return nil
}

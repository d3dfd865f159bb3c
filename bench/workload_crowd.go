package main

import "fmt"

var crowdColumns = []column{
	{title: "pairs/s", figure: rate, format: whole},
	{title: "wait p50 ms", figure: waitP50, format: millis},
	{title: "longest", figure: waitMax, format: millis},
	{title: "commands", figure: commands, format: tenths},
	{title: "Jain", figure: fairness, format: thousandths},
	{title: "CPU µs", figure: cpu, format: whole},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// crowd is more goroutines of one process than any other workload has, for one name. What a pair costs should hardly grow
// with those who wait: so each kind is compared with itself. It is measured for longer than elsewhere, as thousands who come
// at once take a while to find their places.
func crowd(b *bench) error {
	t := newTable([]string{"N", "contender", "goroutines"}, crowdColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		for _, c := range b.among(n, "holdfast", "fair", "readwrite", "semaphore") {
			var list []contender
			crowds := make(map[string]int)
			for _, workers := range b.crowds(64, 1000, 10000) {
				as := c
				as.name = fmt.Sprint(workers)
				crowds[as.name] = workers
				list = append(list, as)
			}
			s, err := b.compare(list, func(as contender) (figures, error) {
				j := job{Workers: crowds[as.name], Room: as.room}
				if as.shares {
					j.Reads = 90
				}
				return b.try(as, b.on(n, j, 3*b.span))
			})
			if err != nil {
				return err
			}
			t.add(s, crowdColumns, fmt.Sprint(n), c.name)
			if len(list) > 1 {
				few, many := list[0].name, list[1].name
				targets = append(targets, atLeast(fmt.Sprintf("N = %d, %s: pairs/s of %s goroutines ÷ of %s", n, c.name, many, few),
					s.ratio(many, rate, few), 0.5))
			}
		}
	}
	b.show(t, targets)
	return nil
}

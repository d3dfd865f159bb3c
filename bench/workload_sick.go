package main

import (
	"fmt"
	"strings"
)

// stopped marks a contender that works with a node that does not answer.
const stopped = ", one stopped"

// sick is many on five nodes, and the same with one of them stopped: its connections
// stay open, and nothing is answered.
func sick(b *bench) error {
	const n = 5
	t := newTable([]string{"goroutines", "contender"}, manyColumns)
	var targets []target
	for _, workers := range b.crowds(64, 512) {
		var list []contender
		for _, c := range b.ours(n, "holdfast", "fair") {
			list = append(list, c)
			c.name += stopped
			list = append(list, c)
		}
		s, err := b.compare(list, func(c contender) (figures, error) {
			if err := b.servers.flush(); err != nil {
				return nil, err
			}
			trial := b.on(n, job{Workers: workers, Own: true, Uncounted: true}, b.span)
			if strings.HasSuffix(c.name, stopped) {
				trial.nodes, trial.stopped = b.servers[:n-1], b.servers[n-1]
			}
			return b.try(c, trial)
		})
		if err != nil {
			return err
		}
		t.add(s, manyColumns, fmt.Sprint(workers))
		targets = append(targets, atLeast(fmt.Sprintf("%d goroutines: pairs/s, one stopped ÷ all well", workers),
			s.ratio("holdfast"+stopped, rate, "holdfast"), 0.9))
	}
	b.show(t, targets)
	return nil
}

package main

import "fmt"

// processes is hot with the goroutines spread over eight processes.
func processes(b *bench) error {
	const count = 8
	t := newTable([]string{"N", "goroutines", "hold", "contender"}, hotColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		for _, workers := range b.crowds(16, 128, 512) {
			s, err := b.contest(n, max(workers, count), count, hold, 8)
			if err != nil {
				return err
			}
			t.add(s, hotColumns, fmt.Sprint(n), fmt.Sprint(workers), hold.String())
			if workers == 16 {
				where := fmt.Sprintf("N = %d, %d goroutines of %d processes: ", n, workers, count)
				peer, ratio := s.best("holdfast", rate, true, hotPeers...)
				targets = append(targets,
					atLeast(where+againstBest("pairs/s"), ratio, 1).beside(peer),
					atLeast(where+"Jain", s.median("holdfast", fairness), 0.9),
					atMost(where+"longest wait, s", s.median("holdfast", waitMax)/1e6, 1))
			}
		}
	}
	b.show(t, targets)
	return nil
}

package main

import "fmt"

// processes is hot with the goroutines spread over eight processes.
func processes(b *bench) error {
	const count = 8
	t := newTable([]string{"N", "goroutines", "hold", "contender"}, hotColumns)
	for _, n := range b.ns(1, 5) {
		for _, workers := range b.crowds(16, 128, 512) {
			s, err := b.contest(n, max(workers, count), count, hold, 8)
			if err != nil {
				return err
			}
			t.add(s, hotColumns, fmt.Sprint(n), fmt.Sprint(workers), hold.String())
		}
	}
	b.show(t, nil)
	return nil
}

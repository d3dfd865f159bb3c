package main

import (
	"context"
	"time"
)

// minNap is how long a process must not have run for it to matter.
const minNap = 100 * time.Millisecond

// pulse tells when this process had no processor to run on, until ctx ends.
func pulse(ctx context.Context, asleep func(from, to int64)) {
	const beat = 20 * time.Millisecond
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for last := now(); ; last = now() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if at := now(); at-last > int64(minNap) {
			asleep(last, at)
		}
	}
}

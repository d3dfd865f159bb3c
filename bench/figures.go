package main

import (
	"math"
	"slices"
	"time"
)

// figures are what one run of one contender has shown, by name.
type figures map[string]float64

// An outcome is what a trial has shown.
type outcome struct {
	findings
	elapsed  time.Duration
	servers  time.Duration // their CPU time
	overlaps int64
}

// The names of the figures of an outcome. Times are in microseconds.
const (
	rate     = "pairs/s"
	p50      = "p50"
	p99      = "p99"
	lockP50  = "lock p50"
	freeP50  = "unlock p50"
	gapP50   = "gap p50"
	gapP99   = "gap p99"
	gapMax   = "gap max"
	waitP50  = "wait p50"
	waitP99  = "wait p99"
	waitMean = "wait mean"
	waitMax  = "wait max"
	fairness = "Jain"
	cpu      = "CPU"
	nodeCPU  = "servers' CPU"
	allocs   = "allocs"
	bytesPer = "bytes"
	commands = "commands"
	overlaps = "overlaps"
	failures = "errors"
)

// figures works them out.
func (t *outcome) figures() figures {
	var pairs int64
	for _, p := range t.Pairs {
		pairs += p
	}
	n := float64(pairs)
	if pairs == 0 {
		n = math.NaN() // nothing can be said for each of none
	}
	for _, list := range [][]int64{t.Waits, t.Unlocks, t.Whole, t.Gaps} {
		slices.Sort(list)
	}
	return figures{
		rate:     float64(pairs) / t.elapsed.Seconds(),
		p50:      quantile(t.Whole, 0.50) / 1e3,
		p99:      quantile(t.Whole, 0.99) / 1e3,
		lockP50:  quantile(t.Waits, 0.50) / 1e3,
		freeP50:  quantile(t.Unlocks, 0.50) / 1e3,
		gapP50:   quantile(t.Gaps, 0.50) / 1e3,
		gapP99:   quantile(t.Gaps, 0.99) / 1e3,
		gapMax:   quantile(t.Gaps, 1) / 1e3,
		waitP50:  quantile(t.Waits, 0.50) / 1e3,
		waitP99:  quantile(t.Waits, 0.99) / 1e3,
		waitMean: mean(t.Waits) / 1e3,
		waitMax:  float64(t.Longest) / 1e3,
		fairness: jain(t.Pairs),
		cpu:      float64(t.Usage.CPU) / 1e3 / n,
		nodeCPU:  float64(t.servers) / 1e3 / n,
		allocs:   float64(t.Usage.Mallocs) / n,
		bytesPer: float64(t.Usage.Bytes) / n,
		commands: float64(t.Commands) / n,
		overlaps: float64(t.overlaps),
		failures: float64(t.Errors),
	}
}

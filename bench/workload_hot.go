package main

import (
	"fmt"
	"time"
)

var hotColumns = []column{
	{title: "pairs/s", figure: rate, format: whole},
	{title: "gap p50 ms", figure: gapP50, format: millis},
	{title: "p99", figure: gapP99, format: millis},
	{title: "max", figure: gapMax, format: millis},
	{title: "wait p50 ms", figure: waitP50, format: millis},
	{title: "mean", figure: waitMean, format: millis},
	{title: "longest", figure: waitMax, format: millis},
	{title: "commands", figure: commands, format: tenths},
	{title: "Jain", figure: fairness, format: thousandths},
	{title: "CPU µs", figure: cpu, format: whole},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// hold is for how long a holder keeps a contended lock, where it does not give it back
// at once.
const hold = 2 * time.Millisecond

// hotPeers are what a contended lock is compared with, redsync and redislock once as
// they come and once with as little patience as is sensible.
var hotPeers = []string{"redsync", "redsync-1ms", "redislock", "redislock-1ms", "rueidislock", "redsync-local", "redislock-local"}

var hotContenders = append([]string{"holdfast", "fair"}, hotPeers...)

// hotSpan is long enough for each of so many workers to have its turn several times.
// A span of a second allows for eight turns of all.
func (b *bench) hotSpan(workers, turns int, hold time.Duration) time.Duration {
	seconds := time.Duration(turns*workers) * hold
	return time.Duration(float64(b.span) * max(1, seconds.Seconds()))
}

// hot is goroutines of one process that lock one name. The gap is between the moment
// when a holder begins to unlock and the next grant. The longest wait counts those who
// were not served at all.
func hot(b *bench) error {
	t := newTable([]string{"N", "goroutines", "hold", "contender"}, hotColumns)
	var targets []target
	for _, n := range b.ns(1, 5) {
		for _, held := range []time.Duration{0, hold} {
			few, fewest := 0.0, 0
			for _, workers := range b.crowds(2, 16, 128, 512) {
				s, err := b.contest(n, workers, 0, held, 8, append([]string{"inside", "baton", "relay"}, hotContenders...)...)
				if err != nil {
					return err
				}
				t.add(s, hotColumns, fmt.Sprint(n), fmt.Sprint(workers), held.String())
				targets = append(targets, hotTargets(s, n, workers, held)...)
				if fewest == 0 {
					few, fewest = s.median("holdfast", commands), workers
				} else if held > 0 && workers == 512 {
					targets = append(targets, atMost(
						fmt.Sprintf("N = %d, hold %v: commands of a pair with %d goroutines ÷ with %d", n, held, workers, fewest),
						s.median("holdfast", commands)/few, 1.25))
				}
			}
		}
	}
	b.show(t, targets)
	return nil
}

// contest has contenders fight over one name.
func (b *bench) contest(n, workers, processes int, held time.Duration, turns int, names ...string) (*samples, error) {
	if len(names) == 0 {
		names = hotContenders
	}
	return b.compare(b.among(n, names...), func(c contender) (figures, error) {
		trial := b.on(n, job{Workers: workers, Hold: held}, b.hotSpan(workers, turns, held))
		trial.processes = processes
		return b.try(c, trial)
	})
}

func hotTargets(s *samples, n, workers int, held time.Duration) []target {
	where := fmt.Sprintf("N = %d, %d goroutines, hold %v: ", n, workers, held)
	if held == 0 {
		peer, ratio := s.best("holdfast", rate, true, hotPeers...)
		times := 30.0
		if workers == 2 {
			times = 15
		}
		targets := []target{
			atLeast(where+againstBest("pairs/s"), ratio, times).beside(peer).floored("inside", s.ratio("inside", rate, peer)).
				floored("baton", s.ratio("baton", rate, peer)),
			atLeast(where+against("pairs/s", "inside"), s.ratio("holdfast", rate, "inside"), 0.25),
		}
		if workers > 2 {
			targets = append(targets, atMost(where+"longest wait ÷ mean", s.within("holdfast", waitMax, waitMean), 10).
				floored("inside", s.within("inside", waitMax, waitMean)),
				atLeast(where+"Jain", s.median("holdfast", fairness), 0.99).floored("inside", s.median("inside", fairness)))
		}
		return targets
	}
	if workers != 128 {
		return nil
	}
	if n > 1 {
		return []target{
			atMost(where+against("gap p99", "redsync"), s.ratio("holdfast", gapP99, "redsync"), 0.3).
				floored("baton", s.ratio("baton", gapP99, "redsync")).
				floored("relay", s.ratio("relay", gapP99, "redsync")),
		}
	}
	fastest, gap := s.best("holdfast", gapP50, false, hotPeers...)
	most, pairs := s.best("holdfast", rate, true, hotPeers...)
	return []target{
		atMost(where+"gap p50, ms", s.median("holdfast", gapP50)/1e3, 0.02).floored("inside", s.median("inside", gapP50)/1e3),
		atMost(where+"gap p99, ms", s.median("holdfast", gapP99)/1e3, 1).floored("inside", s.median("inside", gapP99)/1e3),
		atMost(where+againstBest("gap p50"), gap, 1.2).beside(fastest).floored("baton", s.ratio("baton", gapP50, fastest)),
		atLeast(where+againstBest("pairs/s"), pairs, 1).beside(most).floored("baton", s.ratio("baton", rate, most)),
		atMost(where+"fair: longest wait ÷ median wait", s.within("fair", waitMax, waitP50), 2),
		atMost(where+"commands of a pair", s.median("holdfast", commands), 0.3),
	}
}

// against names a ratio.
func against(figure, peer string) string { return figure + " ÷ " + peer + "'s" }

// againstBest names a ratio to whichever peer is the best in a run.
func againstBest(figure string) string { return figure + " ÷ the best peer's" }

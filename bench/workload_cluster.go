package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

var clusterColumns = []column{
	{title: "pairs/s", figure: rate, format: whole},
	{title: "p50 µs", figure: p50, format: short},
	{title: "p99 µs", figure: p99, format: short},
	{title: "CPU µs", figure: cpu, format: short},
	{title: "servers' CPU µs", figure: nodeCPU, format: short},
	{title: "overlaps", figure: overlaps, worst: true, format: whole},
}

// cluster is many and hot on a Cluster of three masters, which is one node.
func cluster(b *bench) error {
	const masters = 3
	nodes, err := startCluster(b.dir, masters)
	if err != nil {
		return err
	}
	defer nodes.close()
	t := newTable([]string{"names", "goroutines", "contender"}, clusterColumns)
	var targets []target
	for _, names := range []string{"own", "one"} {
		able := []string{"holdfast", "fair", "redsync", "redislock"}
		list := slices.DeleteFunc(b.among(1, able...), func(c contender) bool { return !slices.Contains(able, c.name) })
		for _, workers := range b.crowds(64) {
			s, err := b.compare(list, func(c contender) (figures, error) {
				return b.try(c, trial{
					nodes: nodes, addrs: nodes.addrs(masters), cluster: true,
					job: job{Workers: workers, Own: names == "own", Uncounted: true}, span: b.span,
				})
			})
			if err != nil {
				return err
			}
			t.add(s, clusterColumns, names, fmt.Sprint(workers))
			if names == "own" {
				targets = append(targets, atLeast(
					fmt.Sprintf("%d goroutines: pairs/s ÷ redislock's", workers), s.ratio("holdfast", rate, "redislock"), 1.3))
			}
		}
	}
	told, err := b.told(nodes)
	if err != nil {
		return err
	}
	b.printf("%s\n\n", told)
	b.show(t, targets)
	return nil
}

// told measures what a release's message costs: PUBLISH goes to every master, SPUBLISH to
// those of one shard.
func (b *bench) told(nodes servers) (string, error) {
	costs := make(map[string][]float64)
	for range b.repeat {
		for _, command := range []string{"publish", "spublish", "echo"} {
			cost, err := nodes.cost(b.span/2, command)
			if err != nil {
				return "", err
			}
			costs[command] = append(costs[command], cost)
		}
	}
	publish, spublish, nothing := median(costs["publish"]), median(costs["spublish"]), median(costs["echo"])
	return fmt.Sprintf("To nobody, a PUBLISH takes %s µs of all masters' CPU time, and a SPUBLISH %s µs, above what an ECHO takes (%s µs).",
		short(publish-nothing), short(spublish-nothing), short(nothing)), nil
}

// cost is the CPU time, in microseconds, that all servers need for a command of which the
// last one, which has the slot of {a}, is sent as many as it takes in span.
func (list servers) cost(span time.Duration, command string) (float64, error) {
	ctx := context.Background()
	const flight = 500
	before, err := list.cpu()
	if err != nil {
		return 0, err
	}
	sent := 0
	for began := time.Now(); time.Since(began) < span; sent += flight {
		if _, err := list[len(list)-1].admin.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range flight {
				if command == "echo" {
					p.Do(ctx, command, "holder:1")
				} else {
					p.Do(ctx, command, "lock:{a}:channel", "holder:1")
				}
			}
			return nil
		}); err != nil {
			return 0, err
		}
	}
	time.Sleep(50 * time.Millisecond) // until the last message has come to the others
	after, err := list.cpu()
	return float64((after - before).Nanoseconds()) / 1e3 / float64(sent), err
}

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

// silent is a logger that logs nothing.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func main() {
	redis.SetLogger(silent{}) // it tells of every node that is down, which is known here
	if beWorker() {
		return
	}
	var d driver
	flag.StringVar(&d.cell, "cell", "", "only cells whose name contains this")
	flag.StringVar(&d.mutant, "mutant", "", `only planted bugs whose name contains this; "all": all of them`)
	flag.Uint64Var(&d.seed, "seed", 1, "of the faults and of what workers do")
	flag.DurationVar(&d.duration, "duration", 0, "for how long a cell has faults; 0: as it says itself")
	flag.DurationVar(&d.soak, "soak", 0, "run the cells again and again, with other seeds, for so long")
	flag.IntVar(&d.parallel, "parallel", 3, "runs at a time; they are mostly waiting")
	schedules := flag.Bool("schedule", false, "print the faults that would be injected, and do nothing")
	flag.Parse()
	d.out, d.log = os.Stdout, os.Stderr
	if *schedules {
		d.schedules()
		return
	}
	began := time.Now()
	ok := d.run()
	fmt.Fprintf(d.out, "\n%v\n", time.Since(began).Round(time.Second))
	if !ok {
		os.Exit(1)
	}
}

// beWorker does a worker's work, if that is what this process was started for.
func beWorker() bool {
	text, ok := os.LookupEnv(workerEnv)
	if !ok {
		return false
	}
	if err := runWorker(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

// silent is a logger that logs nothing.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func main() {
	redis.SetLogger(silent{}) // it tells of every node that is down, which is known here
	if text, ok := os.LookupEnv(workerEnv); ok {
		if err := runWorker(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	name := flag.String("cell", "", "only cells whose name contains this")
	seed := flag.Uint64("seed", 1, "of schedules and of what workers do")
	mutant := flag.String("mutant", "", "only mutants whose name contains this")
	flag.Parse()
	if *mutant != "" {
		for _, m := range mutants() {
			if strings.Contains(m.Name, *mutant) || *mutant == "all" {
				c, err := catch(m, 2)
				fmt.Println(m.Name, c.caught(), c.Calls, c.After, err)
				for _, v := range c.Found {
					fmt.Println("   ", v.Checker, v.Text)
				}
			}
		}
		return
	}
	for _, c := range cells() {
		if !strings.Contains(c.String(), *name) {
			continue
		}
		r := Run{Cell: c, Seed: *seed}
		h, err := r.Do()
		if err != nil {
			fmt.Println(c, err)
			continue
		}
		fmt.Printf("%s: %d calls, %d leases, %d faults, left %v stuck %v\n", c, len(h.Calls), len(h.leases()), len(h.Faults), h.Left, h.Stuck)
		for _, v := range check(h) {
			fmt.Println("  ", v.Checker, h.seconds(v.At), v.Text)
			for _, f := range h.Faults {
				if f.Began < v.At && f.Ended > v.At-3e9 {
					fmt.Println("      ", h.seconds(f.Began), h.seconds(f.Ended), f)
				}
			}
		}
	}
}

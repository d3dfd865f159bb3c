package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A bench is one run of the program.
type bench struct {
	out     io.Writer
	dir     string // for files that are gone with the run
	servers servers
	ttl     time.Duration

	repeat     int
	span       time.Duration
	nodes      []int // those to measure; empty: all of a workload's
	goroutines []int // the same
	only       []string
	count      int // of leases and waiters, where there are many

	faults []string // why the run fails

	results  results
	workload string    // under way
	now      time.Time // when the run began
}

// A workload is one table.
type workload struct {
	name string
	what string
	run  func(*bench) error
}

var workloads = []workload{
	{"solo", "one goroutine with a name of its own: what a lock costs that nobody else wants", solo},
	{"many", "goroutines with a name each: what a process can do", many},
	{"hot", "goroutines of one process that want one name", hot},
	{"crowd", "up to ten thousand goroutines of one process that want one name, of each kind; readwrite's read 90 times of 100", crowd},
	{"fairness", "128 goroutines that want one name and hold it for 2 ms", even},
	{"processes", "eight processes whose goroutines want one name", processes},
	{"permits", "goroutines that take permits of a name with room for sixteen", permitsOf},
	{"several", "four names that are taken together", severalLocks},
	{"readmostly", "goroutines that lock one name, 99 times of 100 to read", readMostly},
	{"readers", "one goroutine that writes among many that read", readers},
	{"held", "leases that are held for three TTLs while the watchdog renews them", leases},
	{"back", "leases that are held while one of five nodes comes back empty, and callers with names of their own beside them", back},
	{"waiting", "callers blocked on names that another client holds, ten for each name", waiting},
	{"cluster", "goroutines with a name each, or all with one, on a Cluster of three masters", cluster},
	{"memory", "what Redis keeps for a lock", memory},
	{"reenter", "one goroutine that locks what its owner holds already", reenter},
	{"sick", "goroutines with a name each, on five nodes of which one is stopped", sick},
	{"far", "goroutines with a name each, on nodes 2, 3, 5, 8 and 50 ms away", far},
}

func main() {
	if os.Getenv(childEnv) != "" {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench: a child process:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is the program with its arguments.
func run(args []string, out io.Writer) (failed error) {
	b := &bench{out: out, now: time.Now()}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	names := flags.String("workload", "", "which to run, separated by commas (default: all)")
	only := flags.String("contenders", "", "which take part, separated by commas (default: what each workload is about)")
	nodes := flags.String("n", "", "numbers of nodes, separated by commas (default: each workload's)")
	goroutines := flags.String("goroutines", "", "numbers of goroutines, separated by commas (default: each workload's)")
	pagePath := flags.String("page", "", "a Markdown file to put the tables into, such as ../docs/performance.md")
	flags.StringVar(&b.results.dir, "results", "", "a folder where the results of all runs are kept, such as results: targets are judged by all of them")
	charts := flags.String("charts", "", "draw the results that are kept in -results into this folder, such as ../docs/charts, and measure nothing")
	flags.IntVar(&b.repeat, "repeat", 5, "repetitions, of which the median is shown")
	flags.DurationVar(&b.span, "duration", time.Second, "how long a contender is measured each time")
	flags.DurationVar(&b.ttl, "ttl", 30*time.Second, "the TTL of every lock")
	flags.IntVar(&b.count, "count", 0, "leases of held and back, callers of waiting (default 100000 and 50000)")
	var p profiles
	p.flags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *charts != "" {
		return b.results.draw(*charts)
	}
	var err error
	if b.nodes, err = numbers(*nodes); err != nil {
		return err
	}
	if b.goroutines, err = numbers(*goroutines); err != nil {
		return err
	}
	b.only = fields(*only)
	if err := checkNames(b.only); err != nil {
		return err
	}
	chosen, err := choose(fields(*names))
	if err != nil {
		return err
	}
	if err := b.open(); err != nil {
		return err
	}
	defer b.close()
	if err := p.start(); err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, p.stop()) }()
	for i, w := range chosen {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "### %s\n\n%s.\n\n", w.name, strings.ToUpper(w.what[:1])+w.what[1:])
		var tables strings.Builder
		b.out, b.workload = io.MultiWriter(out, &tables), w.name
		err := w.run(b)
		if err == nil && *pagePath != "" {
			err = page{*pagePath}.set(w.name, tables.String())
		}
		if err != nil { // the others may be worth seeing all the same
			b.faults = append(b.faults, fmt.Sprintf("%s: %v", w.name, err))
		}
	}
	for _, f := range b.faults {
		fmt.Fprintln(os.Stderr, "bench:", f)
	}
	if len(b.faults) > 0 {
		return errors.New("not all figures are good")
	}
	return nil
}

// open starts as many servers as any workload uses.
func (b *bench) open() (err error) {
	if b.dir, err = os.MkdirTemp("", "holdfast-bench-"); err != nil {
		return err
	}
	if b.servers, err = startServers(b.dir, 5); err != nil {
		_ = os.RemoveAll(b.dir)
	}
	return err
}

func (b *bench) close() {
	b.servers.close()
	_ = os.RemoveAll(b.dir)
}

func (b *bench) printf(format string, args ...any) { fmt.Fprintf(b.out, format, args...) }

// ns are the numbers of nodes to measure, of those that a workload offers.
func (b *bench) ns(offered ...int) []int { return chosenOf(b.nodes, offered) }

// crowds are the numbers of goroutines.
func (b *bench) crowds(offered ...int) []int {
	if len(b.goroutines) > 0 {
		return b.goroutines
	}
	return offered
}

func chosenOf(wanted, offered []int) []int {
	if len(wanted) == 0 {
		return offered
	}
	return slices.DeleteFunc(slices.Clone(offered), func(n int) bool { return !slices.Contains(wanted, n) })
}

// among are the contenders that take part with n nodes, of those that a workload names.
func (b *bench) among(n int, names ...string) []contender {
	if len(b.only) > 0 {
		names = b.only
	}
	return slices.DeleteFunc(named(names...), func(c contender) bool { return c.one && n > 1 })
}

// ours are the contenders that take part where peers cannot.
func (b *bench) ours(n int, names ...string) []contender {
	return slices.DeleteFunc(b.among(n, names...), func(c contender) bool {
		return c.name != "holdfast" && c.name != "fair"
	})
}

// note keeps what makes the run void: two holders of one name, or errors.
func (b *bench) note(c contender, t *outcome) {
	if t.overlaps > 0 && !c.floor {
		b.faults = append(b.faults, fmt.Sprintf("%s: %d times a name had two holders", c.name, t.overlaps))
	}
	if t.Errors > 0 {
		b.printf("%s had %d errors, such as: %s\n\n", c.name, t.Errors, t.Error)
	}
}

func choose(names []string) ([]workload, error) {
	if len(names) == 0 {
		return workloads, nil
	}
	var list []workload
	for _, name := range names {
		i := slices.IndexFunc(workloads, func(w workload) bool { return w.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no workload %q", name)
		}
		list = append(list, workloads[i])
	}
	return list, nil
}

func fields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func numbers(s string) ([]int, error) {
	var list []int
	for _, f := range fields(s) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// show prints what a workload has found.
func (b *bench) show(t *table, targets []target) {
	t.print(b.out)
	err := b.results.add(b.now, b.workload, t, targets)
	for i := range targets {
		var err2 error
		targets[i].past, err2 = b.results.past(b.workload, targets[i].what)
		err = errors.Join(err, err2)
	}
	if err != nil {
		b.faults = append(b.faults, err.Error())
	}
	if len(targets) > 0 {
		b.printf("\n")
		printTargets(b.out, targets)
	}
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// module is what the names of packages begin with.
const module = "github.com/holdfast-go/holdfast/"

// A report tells how far a round is.
type report struct {
	total int
	begin time.Time

	mu     sync.Mutex
	out    io.Writer
	ended  int // packages
	failed []string
	tests  map[string]*counts // by package
	quiet  time.Time          // since when nothing was printed
	// Of each test that has not passed, by package and test: what it has printed. What is of
	// no test has the test "".
	printed map[testID]*strings.Builder
	order   []testID // in which they began to print
}

type testID struct{ pkg, test string }

// counts are the tests of one package.
type counts struct {
	ended   int
	failed  []string
	running map[string]bool
}

func newReport(out io.Writer, total int) *report {
	now := time.Now()
	return &report{
		total: total, begin: now, out: out, quiet: now,
		tests: make(map[string]*counts), printed: make(map[testID]*strings.Builder),
	}
}

// An event is a line of `go test -json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of what was built
	Test       string
	Elapsed    float64
	Output     string
}

// follow runs `go test -json` and reports what happens, with note behind the names of packages. That tests fail is no
// error: see verdict.
func (r *report) follow(cmd *exec.Cmd, note string) error {
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	failed := false // a package, that is: there is a line about it
	for lines := bufio.NewReader(pipe); ; {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case err != nil && line == "":
			var exit *exec.ExitError
			if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
				return err
			} else if err != nil && !failed {
				r.fail(strings.Join(cmd.Args, " "))
			}
			return nil
		case json.Unmarshal([]byte(line), &e) != nil:
			r.print("%s", line)
		default:
			failed = r.take(&e, note) || failed
		}
	}
}

// fail notes what has failed, for the verdict.
func (r *report) fail(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, what)
}

// take deals with one event. It tells whether that is the failure of a package.
func (r *report) take(e *event, note string) (failed bool) {
	if e.Package == "" {
		e.Package, _, _ = strings.Cut(e.ImportPath, " ") // "p [p.test]" when it was built
	}
	e.Package += note
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.tests[e.Package]
	if c == nil {
		c = &counts{running: make(map[string]bool)}
		r.tests[e.Package] = c
	}
	key := testID{e.Package, e.Test}
	switch e.Action {
	case "run":
		c.running[e.Test] = true
	case "output", "build-output":
		if strings.HasPrefix(e.Output, "=== ") {
			return false // that it runs
		}
		if r.printed[key] == nil {
			r.printed[key] = new(strings.Builder)
			r.order = append(r.order, key)
		}
		r.printed[key].WriteString(e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			r.end(e, c)
			return e.Action == "fail"
		}
		delete(c.running, e.Test)
		c.ended++
		if e.Action != "fail" {
			delete(r.printed, key)
		} else {
			c.failed = append(c.failed, e.Test)
		}
	}
	return false
}

// end prints the line of a package, and what its failed tests have printed.
func (r *report) end(e *event, c *counts) {
	r.ended++
	name := strings.TrimPrefix(e.Package, module)
	word := map[string]string{"pass": "ok", "skip": "ok", "fail": "FAIL"}[e.Action]
	if e.Action == "fail" {
		r.failed = append(r.failed, strings.Join(append([]string{name}, c.failed...), " "))
		for _, key := range r.order {
			if text := r.printed[key]; text != nil && key.pkg == e.Package {
				for line := range strings.Lines(text.String()) {
					r.println("    " + strings.TrimSuffix(line, "\n"))
				}
			}
		}
	}
	r.order = slices.DeleteFunc(r.order, func(key testID) bool { return key.pkg == e.Package || r.printed[key] == nil })
	maps.DeleteFunc(r.printed, func(key testID, _ *strings.Builder) bool { return key.pkg == e.Package })
	r.println(fmt.Sprintf("%7s  %2d of %d  %-4s  %-28s %6.1f s  %4d tests",
		r.since(), r.ended, r.total, word, name, e.Elapsed, c.ended))
	delete(r.tests, e.Package)
}

func (r *report) since() string { return time.Since(r.begin).Truncate(time.Second).String() }

func (r *report) print(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format, args...)
}

func (r *report) println(line string) {
	r.quiet = time.Now()
	fmt.Fprintln(r.out, line)
}

// beat says what is running whenever nothing was printed for so long, until the returned
// function is called.
func (r *report) beat(every time.Duration) (stop func()) {
	ticks, over := time.NewTicker(time.Second), make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		for {
			select {
			case <-ticks.C:
				r.progress(every)
			case <-over:
				return
			}
		}
	})
	return func() {
		ticks.Stop()
		close(over)
		beating.Wait()
	}
}

func (r *report) progress(every time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.quiet) < every {
		return
	}
	var now []string
	for name, c := range r.tests {
		if len(c.running) > 0 {
			now = append(now, fmt.Sprintf("%s (%d tests done, %d running)", strings.TrimPrefix(name, module), c.ended, len(c.running)))
		}
	}
	if len(now) == 0 {
		now = []string{"building"}
	}
	r.println(fmt.Sprintf("%7s  … %s", r.since(), strings.Join(now, ", ")))
}

// verdict is an error that names the packages that failed.
func (r *report) verdict() error {
	if len(r.failed) > 0 {
		return fmt.Errorf("failed after %s: %s", r.since(), strings.Join(r.failed, ", "))
	}
	fmt.Fprintf(r.out, "all passed in %s\n", r.since())
	return nil
}

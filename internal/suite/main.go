package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/redisbin"
)

func main() {
	if os.Getenv(hogEnv) != "" {
		beHog()
		return
	}
	var s suite
	flag.IntVar(&s.beside, "p", 2, "so many packages of the first module side by side, and one of the others beside them")
	flag.IntVar(&s.parallel, "parallel", 6, "so many tests of a package side by side; they mostly wait")
	flag.StringVar(&s.run, "run", "", "only tests whose names match")
	flag.BoolVar(&s.race, "race", true, "with the race detector")
	flag.DurationVar(&s.stress, "stress", 0, "run again and again for so long, on a machine that is kept busy")
	flag.DurationVar(&s.timeout, "timeout", 30*time.Minute, "of a package; beside other programs one may take several times as long")
	flag.Parse()
	if s.modules = flag.Args(); len(s.modules) == 0 {
		s.modules = []string{"."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := s.main(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A suite is what is to be run.
type suite struct {
	modules  []string // folder, or folder:patterns
	beside   int
	parallel int
	run      string
	race     bool
	stress   time.Duration
	timeout  time.Duration
}

func (s *suite) main(ctx context.Context) error {
	version, err := exec.CommandContext(ctx, redisbin.Name(), "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", redisbin.Name(), err)
	}
	fmt.Printf("on %s", version)
	parts := make([]*part, len(s.modules))
	for i, m := range s.modules {
		if parts[i], err = list(ctx, m); err != nil {
			return err
		}
	}
	if s.stress > 0 {
		return s.stressed(ctx, parts)
	}
	if s.race {
		parts = append(parts, parts[0].spared(s.run)...)
	}
	return s.round(ctx, parts, nil)
}

// round runs every package once.
func (s *suite) round(ctx context.Context, parts []*part, env []string) error {
	total := 0
	for _, p := range parts {
		total += len(p.packages)
	}
	r := newReport(os.Stdout, total)
	defer r.beat(30 * time.Second)()
	// What is heavy is in the first module. The others, which mostly compile, go beside it.
	var rest sync.WaitGroup
	var failed error
	rest.Go(func() {
		for _, p := range parts[1:] {
			failed = errors.Join(failed, r.follow(s.command(ctx, p, p.beside(), env), p.note))
		}
	})
	var err error
	if first := parts[0]; len(first.packages) > 0 { // not of examples alone
		err = r.follow(s.command(ctx, first, s.beside, env), "")
	}
	rest.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	return r.verdict()
}

// alone are modules whose tests have one goroutine and much to compute, which the race detector would make
// ten times as slow.
var alone = []string{"mutants"}

// spared takes out of the packages of p what the race detector has nothing new to see in, and tells how it is run without:
// the examples, which do what tests do; and, beside what runs of them with it, the rules of every kind on every deployment.
func (p *part) spared(run string) []*part {
	examples := &part{dir: p.dir, plain: true}
	p.packages = slices.DeleteFunc(p.packages, func(pkg string) bool {
		is := strings.HasPrefix(pkg, module+"examples/")
		if is {
			examples.packages = append(examples.packages, pkg)
		}
		return is
	})
	rules := &part{dir: p.dir, plain: true, run: "^TestConformance", note: " (rules)"}
	for _, pkg := range p.packages {
		if _, err := os.Stat(filepath.Join(p.dir, strings.TrimPrefix(pkg, module), "conformance_test.go")); err == nil {
			rules.packages = append(rules.packages, pkg)
		}
	}
	return slices.DeleteFunc([]*part{rules, examples}, func(p *part) bool {
		return len(p.packages) == 0 || p.run != "" && run != ""
	})
}

// interpreter is the module by which embedded servers run scripts. The race detector is for what uses them: for
// the interpreter itself it would cost a large part of the time that all tests take. That is sound only for a module without
// generic code, whose instances the linker could take in place of instrumented ones of other packages, and whose data
// belongs to one goroutine at a time: that it is passed on would not be seen. So it is not sound for the servers.
const interpreter = "github.com/yuin/gopher-lua"

// command tests one module, so many of its packages side by side.
func (s *suite) command(ctx context.Context, p *part, beside int, env []string) *exec.Cmd {
	args := []string{
		"test", "-json", "-count=1", "-timeout", s.timeout.String(), "-run", cmp.Or(p.run, s.run),
		"-p", fmt.Sprint(beside), "-parallel", fmt.Sprint(s.parallel),
	}
	if s.race && !p.plain && !slices.Contains(alone, filepath.Base(p.dir)) {
		args = append(args, "-race", "-gcflags="+interpreter+"/...=-race=false", "-ldflags=-w") // what debuggers need takes time to link
	}
	cmd := exec.CommandContext(ctx, "go", append(args, p.packages...)...)
	cmd.Dir = p.dir
	together(cmd)
	// A binary with the race detector sleeps a second before it exits, for threads that
	// are not Go's.
	cmd.Env = append(os.Environ(), "HOLDFAST_REQUIRE_REDIS=1", "GORACE=atexit_sleep_ms=50 "+os.Getenv("GORACE"))
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// A part is what is run of one module.
type part struct {
	dir      string
	packages []string
	plain    bool   // without the race detector
	run      string // only tests whose names match; empty: as the suite says
	note     string // what reports add to the names of the packages
}

// beside is how many of its packages are tested side by side, if it is not the first part: those without the race detector mostly
// wait.
func (p *part) beside() int {
	if p.plain {
		return 2
	}
	return 1
}

// list finds the packages that have tests.
func list(ctx context.Context, module string) (*part, error) {
	dir, pattern, some := strings.Cut(module, ":")
	if !some {
		pattern = "./..."
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{
		"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"}, strings.Fields(pattern)...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	packages := strings.Fields(string(out))
	slices.SortStableFunc(packages, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return &part{dir: dir, packages: packages}, nil
}

// long are the packages that take longest, which go first: at the end nothing would be left to run beside them.
var long = []string{"lock", "fair", "readwrite", "reentrant", "redlock", "semaphore", "multi"}

// rank is where a package stands in long, or behind it.
func rank(pkg string) int {
	i := slices.Index(long, strings.TrimPrefix(pkg, module))
	if i < 0 {
		return len(long)
	}
	return i
}

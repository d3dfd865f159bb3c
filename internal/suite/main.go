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
	flag.IntVar(&s.beside, "p", 2, "so many packages of the first module side by side; beside them the parts of lock, and up to two other modules")
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
	goflags  string // the user's, from the environment or from go env -w
}

func (s *suite) main(ctx context.Context) error {
	goflags, err := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	s.goflags = strings.TrimSpace(string(goflags))
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
	if parts, err = s.plan(parts); err != nil {
		return err
	}
	return s.round(ctx, parts, nil)
}

// plan divides the first of parts. Of what the caller has chosen, nothing is changed.
func (s *suite) plan(parts []*part) ([]*part, error) {
	if !s.race || s.run != "" {
		return parts, nil
	}
	parts = append(parts, parts[0].spared()...)
	divided, err := parts[0].divided()
	return slices.Insert(parts, 1, divided...), err
}

// round runs every package once.
func (s *suite) round(ctx context.Context, parts []*part, env []string) error {
	total := 0
	for _, p := range parts {
		total += len(p.packages)
	}
	r := newReport(os.Stdout, total)
	defer r.beat(30 * time.Second)()
	if err := s.compile(ctx, parts); err != nil {
		return err
	}
	// What is heavy is in the first module. The others, which mostly compile, go beside it, two at a time: one after the other, the
	// last ones would have the machine to themselves and not use it. The examples come last: like their users' programs they give a
	// node 200 ms, and have nothing beside them then.
	var all, others sync.WaitGroup
	errs := make([]error, len(parts))
	follow := func(i, beside int) { errs[i] = r.follow(s.command(ctx, parts[i], beside, env), parts[i].note) }
	lanes := make(chan struct{}, 2)
	for i, p := range parts {
		switch {
		case len(p.packages) == 0: // the first, of examples alone
		case i == 0:
			all.Go(func() { follow(i, s.beside) })
		case p.apart:
			all.Go(func() { follow(i, 1) })
		case p.last:
			others.Wait()
			all.Wait()
			follow(i, p.beside())
		default:
			lanes <- struct{}{}
			others.Go(func() {
				follow(i, p.beside())
				<-lanes
			})
		}
	}
	others.Wait()
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return r.verdict()
}

// compile has the first module's packages compiled, once. Several go test at the same time, each with nothing in the cache, would
// compile the same packages several times. That one cannot be compiled is for its test to say.
func (s *suite) compile(ctx context.Context, parts []*part) error {
	args := append([]string{"list", "-e", "-test", "-export", "-f", ""}, s.flags(parts[0])...)
	for _, p := range parts {
		if p.dir == parts[0].dir && p.plain == parts[0].plain {
			args = append(args, p.packages...)
		}
	}
	cmd := s.goCommand(ctx, parts[0], args)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return ctx.Err()
}

// alone are modules whose tests have one goroutine and much to compute, which the race detector would make
// ten times as slow.
var alone = []string{"mutants"}

// interpreter is the module by which embedded servers run scripts. The race detector is for what uses them: for
// the interpreter itself it would cost a large part of the time that all tests take. That is sound only for a module without
// generic code, whose instances the linker could take in place of instrumented ones of other packages, and whose data
// belongs to one goroutine at a time: that it is passed on would not be seen. So it is not sound for the servers.
const interpreter = "github.com/yuin/gopher-lua"

// inlined are the packages in which tests spend their time.
var inlined = []string{"internal/virtual", "lock", "lua", "redlock", "waiter", "watchdog"}

// flagsRace and flagsPlain are how what is tested is compiled, with the race detector and without; what tests compile is as without.
// What debuggers need takes time to link. And go-redis has its Client in a generic type, a weak.Pointer, so every package that
// mentions a client, or a lock, has the compiler make each of the Client's methods anew, which takes longer than all else there.
// Without inlining that is half of it. With the race detector each call costs more than it does, so the packages with most of them
// keep it.
var (
	flagsRace = append([]string{"-race", "-ldflags=-w", "-gcflags=" + interpreter + "/...=-race=false", "-gcflags=" + module + "...=-l"},
		keepInlining()...)
	flagsPlain = []string{"-gcflags=" + module + "...=-l", "-ldflags=-w"}
)

// keepInlining takes the flags back that all of the module has.
func keepInlining() (flags []string) {
	for _, pkg := range inlined {
		flags = append(flags, "-gcflags="+module+pkg+"=")
	}
	return flags
}

// flags are how a part is compiled.
func (s *suite) flags(p *part) []string {
	if s.race && !p.plain && !slices.Contains(alone, filepath.Base(p.dir)) {
		return flagsRace
	}
	return flagsPlain
}

// command tests one module, so many of its packages side by side.
func (s *suite) command(ctx context.Context, p *part, beside int, env []string) *exec.Cmd {
	args := append([]string{
		"test", "-json", "-count=1", "-timeout", s.timeout.String(), "-run", cmp.Or(p.run, s.run), "-skip", p.skip,
		"-p", fmt.Sprint(beside), "-parallel", fmt.Sprint(s.parallel),
	}, s.flags(p)...)
	if filepath.Clean(p.dir) == "." { // what make lint vets where tests run before a change goes in
		args = append(args, "-vet=off")
	}
	cmd := s.goCommand(ctx, p, append(args, p.packages...))
	cmd.Env = append(append(cmd.Env, p.env...), env...)
	return cmd
}

// goCommand is a command of go for a part.
func (s *suite) goCommand(ctx context.Context, p *part, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.dir
	together(cmd)
	// A binary with the race detector sleeps a second before it exits, for threads that
	// are not Go's.
	cmd.Env = append(os.Environ(), "HOLDFAST_REQUIRE_REDIS=1", "GORACE=atexit_sleep_ms=50 "+os.Getenv("GORACE"),
		"GOFLAGS="+strings.Join(append([]string{s.goflags}, flagsPlain...), " "))
	if os.Getenv("GOGC") == "" {
		// Tests keep little memory and leave much behind: what collecting it costs, and the race detector with it, is up to a tenth
		// of the time.
		cmd.Env = append(cmd.Env, "GOGC=400")
	}
	return cmd
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A court tries mutants of one tree.
type court struct {
	root  string
	limit time.Duration // for the tests of a mutant
	show  bool          // verdicts have the tests' output

	mu       sync.Mutex
	binaries map[string]*binary // by package: those that read their scripts
}

// A Verdict is what became of a mutant.
type Verdict struct {
	Mutant
	Fate  Fate
	By    string        // the test that failed, if it told its name
	Build time.Duration // of the test binary
	Took  time.Duration // by the tests
	Err   error         // why the mutant could not be tried

	Output string // of the tests, if that is to be shown
}

// Fate is how a trial ended.
type Fate string

// The fates.
const (
	Killed     Fate = "killed"
	Survived   Fate = "survived"
	Late       Fate = "late" // the tests had not ended when the time was over
	Equivalent Fate = "equivalent"
	Failed     Fate = "error"
)

// try plants m and runs its tests.
func (c *court) try(m Mutant) Verdict {
	v := Verdict{Mutant: m, Fate: Failed}
	if m.Equivalent != "" {
		v.Fate = Equivalent
		return v
	}
	dir, err := os.MkdirTemp("", "holdfast-mutant-")
	if err != nil {
		v.Err = err
		return v
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	program, env, err := c.plant(m, dir)
	v.Build = time.Since(began)
	if err != nil {
		v.Err = fmt.Errorf("mutant %q: %w", m.Name, err)
		return v
	}
	began = time.Now()
	output, err := c.run(m.Package, program, m.Tests, c.limit, env...)
	v.Took = time.Since(began)
	if c.show {
		v.Output = output
	}
	v.Fate, v.By, v.Err = judge(output, err)
	return v
}

// plant makes a test binary with m in it, and what it needs in its environment. dir is for
// what is m's alone.
func (c *court) plant(m Mutant, dir string) (program string, env []string, err error) {
	texts, err := m.texts(c.root)
	if err != nil {
		return "", nil, err
	}
	if m.ofScripts() {
		if err := copyScripts(c.root, texts, dir); err != nil {
			return "", nil, err
		}
		program, err := c.scripted(m.Package)
		return program, []string{scriptsEnv + "=" + dir}, err
	}
	list, err := texts.Write(c.root, dir)
	if err == nil {
		err = c.build(m.Package, dir, "-overlay", list)
	}
	// What the tests build has the bug, too: that of a command may build the command.
	return dir, []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + " -overlay=" + list}, err
}

// acquit runs tests of a package that no mutant is in: they must pass.
func (c *court) acquit(pkg, tests string) error {
	dir, err := os.MkdirTemp("", "holdfast-mutant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := c.build(pkg, dir); err != nil {
		return err
	}
	output, err := c.run(pkg, dir, tests, 10*time.Minute)
	if fate, _, problem := judge(output, err); problem != nil {
		return problem
	} else if fate != Survived {
		return fmt.Errorf("%s: tests fail without any mutant:\n%s", pkg, output)
	}
	return nil
}

// build makes a test binary in dir. It is built in the package's folder, which may be of a module of its own. Without
// what only a debugger reads it links sooner.
func (c *court) build(pkg, dir string, flags ...string) error {
	args := append([]string{"test", "-C", filepath.Join(c.root, pkg), "-c", "-ldflags=-s -w", "-o", filepath.Join(dir, "tests")}, flags...)
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// run runs tests of the binary in dir as go test would. They end by themselves when the
// time is over, and tell where they hung; or are ended, if they cannot even do that.
func (c *court) run(pkg, dir, tests string, limit time.Duration, env ...string) (output string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "tests"),
		"-test.run="+tests, "-test.failfast", "-test.v", "-test.count=1", "-test.timeout="+limit.String())
	cmd.Dir = filepath.Join(c.root, pkg)
	cmd.Env = append(append(os.Environ(), "HOLDFAST_REQUIRE_REDIS=1", "HOLDFAST_PATIENCE="+(limit/4).String()), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // a server that a test has left behind may have the pipe
	err = cmd.Run()
	if ctx.Err() != nil {
		out.WriteString(timedOut)
	}
	return out.String(), err
}

const timedOut = "panic: test timed out"

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// judge reads what became of tests.
func judge(output string, err error) (fate Fate, by string, problem error) {
	var exit *exec.ExitError
	switch {
	case strings.Contains(output, "testing: warning: no tests to run"):
		return Failed, "", errors.New("no test has such a name")
	case err == nil:
		return Survived, "", nil
	case strings.Contains(output, timedOut):
		return Late, "", nil
	case !errors.As(err, &exit):
		return Failed, "", err
	}
	// The innermost is told last.
	if all := failure.FindAllStringSubmatch(output, -1); all != nil {
		return Killed, all[len(all)-1][1], nil
	}
	return Killed, "a crash", nil
}

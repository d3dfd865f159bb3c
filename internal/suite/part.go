package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A part is what is run of one module.
type part struct {
	dir      string
	packages []string
	plain    bool   // without the race detector
	run      string // only tests whose names match; empty: as the suite says
	skip     string // no tests whose names match
	apart    bool   // beside all others, from the start
	last     bool   // behind all others
	env      []string
	note     string // what reports add to the names of the packages
}

// beside is how many of its packages are tested side by side, if it is not the first part: those without the race detector mostly
// wait, and come when little else is left to run.
func (p *part) beside() int {
	if p.plain {
		return 4
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

// rest has package conformance leave out the deployments on which it checks rules with the race detector.
const rest = "HOLDFAST_RULES=rest"

// spared takes out of the packages of p what the race detector has nothing new to see in, and tells how it is run without:
// the examples, which do what tests do; the worlds, which lock as the tests of package lock do, a hundred thousand times; and the
// rules of every kind on the deployments on which they are not checked with it.
func (p *part) spared() []*part {
	examples := &part{dir: p.dir, plain: true, last: true}
	worlds := &part{dir: p.dir, plain: true}
	p.packages = slices.DeleteFunc(p.packages, func(pkg string) bool {
		switch {
		case strings.HasPrefix(pkg, module+"examples/"):
			examples.packages = append(examples.packages, pkg)
		case pkg == module+"internal/simulation":
			worlds.packages = append(worlds.packages, pkg)
		default:
			return false
		}
		return true
	})
	rules := &part{dir: p.dir, plain: true, run: "^TestConformance", env: []string{rest}, note: " (rules)"}
	for _, pkg := range p.packages {
		if _, err := os.Stat(filepath.Join(p.dir, strings.TrimPrefix(pkg, module), "conformance_test.go")); err == nil {
			rules.packages = append(rules.packages, pkg)
		}
	}
	return slices.DeleteFunc([]*part{worlds, rules, examples}, func(p *part) bool { return len(p.packages) == 0 })
}

// mixed is the package with the most tests of both kinds: one after the other in virtual time, which compute, and side by side
// on servers, which wait.
const mixed = module + "lock"

// tests finds the tests, and those that run side by side.
var tests = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\) \{(\n\tt\.Parallel\(\)$)?`)

// divided takes the mixed package out of p, and returns what computes, in two halves, and what waits. Go would run those that
// wait behind the others, when they have the machine for themselves and do not use it. Each part has a pattern to run or one to
// skip: of two, go test would compile both anew for each test.
func (p *part) divided() ([]*part, error) {
	i := slices.Index(p.packages, mixed)
	if i < 0 {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(p.dir, strings.TrimPrefix(mixed, module), "*_test.go"))
	if err != nil {
		return nil, err
	}
	var wait, half []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range tests.FindAllStringSubmatch(string(source), -1) {
			switch name := m[1]; {
			case m[2] != "":
				wait = append(wait, name)
			case name < "TestM":
				half = append(half, name)
			}
		}
	}
	p.packages = slices.Delete(p.packages, i, i+1)
	return []*part{
		{dir: p.dir, packages: []string{mixed}, run: oneOf(half), apart: true, note: " (A to L)"},
		{dir: p.dir, packages: []string{mixed}, skip: oneOf(slices.Concat(half, wait)), apart: true},
		{dir: p.dir, packages: []string{mixed}, run: oneOf(wait), note: " (servers)"},
	}, nil
}

// oneOf matches these names.
func oneOf(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

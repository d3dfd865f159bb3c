package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

//go:embed testdata/clockskew.c
var clockSkewSource []byte

// buildClockSkew compiles, into dir, the library that gives a server a clock of its
// own. It works while the server runs, which libfaketime does not.
func buildClockSkew(dir string) (shim string, err error) {
	source, shim := filepath.Join(dir, "clockskew.c"), filepath.Join(dir, "clockskew.so")
	if err := os.WriteFile(source, clockSkewSource, 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command(compiler, "-shared", "-fPIC", "-O2", "-o", shim, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	return shim, nil
}

const compiler = "cc"

// feasible is the cell as this machine can run it, and what is left out of it: without
// a C compiler, servers have the machine's clock.
func (c Cell) feasible() (possible Cell, left []Kind) {
	if _, err := exec.LookPath(compiler); err == nil {
		return c, nil
	}
	return c.without(ClockJump, ClockDrift)
}

// without is the cell without some kinds of faults, and which of them it had.
func (c Cell) without(kinds ...Kind) (rest Cell, left []Kind) {
	rest = c
	rest.Faults = nil
	for _, k := range c.Faults {
		if slices.Contains(kinds, k) {
			left = append(left, k)
		} else {
			rest.Faults = append(rest.Faults, k)
		}
	}
	return rest, left
}

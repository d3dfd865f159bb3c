package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

//go:embed testdata/clockskew.c
var clockSkewSource []byte

// buildClockSkew compiles the library that gives a server a clock of its own. It works
// while the server runs, which libfaketime does not.
var buildClockSkew = sync.OnceValues(func() (string, error) {
	dir := scratch("clockskew")
	source, shim := filepath.Join(dir, "clockskew.c"), filepath.Join(dir, "clockskew.so")
	if err := os.WriteFile(source, clockSkewSource, 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-O2", "-o", shim, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gcc: %w\n%s", err, out)
	}
	return shim, nil
})

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/holdfast-go/holdfast/internal/overlay"
)

// An Edit replaces a piece of a file of the library. The piece must be there, once.
type Edit struct {
	File, Old, New string
}

// plant builds a worker with a mutated library. The edited files stand in for the
// library's in this one build (go build -overlay): what others build, and what is in
// the repository, stays as it is.
func plant(m Mutant, dir string) (program string, err error) {
	here, err := output("go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return "", err
	}
	list, err := m.overlay(dir)
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "worker")
	// git refuses to tell of a checkout that another user owns, as in a container. Most of what is compiled are the methods of
	// go-redis' clients, in every package anew; without inlining and what debuggers need that takes half the time.
	_, err = output("go", "build", "-C", here, "-buildvcs=false", "-gcflags=github.com/holdfast-go/holdfast/...=-l", "-ldflags=-w",
		"-overlay", list, "-o", program, ".")
	return program, err
}

// overlay writes the files that m edits into dir, and the list of what they stand in for.
func (m Mutant) overlay(dir string) (list string, err error) {
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", "github.com/holdfast-go/holdfast")
	if err != nil {
		return "", err
	}
	texts, err := m.texts(root)
	if err != nil {
		return "", err
	}
	return texts.Write(root, dir)
}

// texts are the files below root that m edits, edited.
func (m Mutant) texts(root string) (overlay.Texts, error) {
	texts := make(overlay.Texts)
	for _, e := range m.Edits {
		if err := texts.Replace(root, e.File, e.Old, e.New); err != nil {
			return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
		}
	}
	return texts, nil
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

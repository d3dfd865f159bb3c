package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	list, err := overlay(m, dir)
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

// overlay writes the edited files into dir, and the list of what they stand in for.
func overlay(m Mutant, dir string) (list string, err error) {
	root, err := output("go", "list", "-m", "-f", "{{.Dir}}", "github.com/holdfast-go/holdfast")
	if err != nil {
		return "", err
	}
	texts, err := edited(root, m)
	if err != nil {
		return "", err
	}
	replace := make(map[string]string)
	for file, text := range texts {
		to := filepath.Join(dir, fmt.Sprint(len(replace), "-", filepath.Base(file)))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}

// edited are the files of the library that m edits, as they are then.
func edited(root string, m Mutant) (map[string]string, error) {
	texts := make(map[string]string)
	for _, e := range m.Edits {
		text, again := texts[e.File]
		if !again {
			read, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, err
			}
			text = string(read)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("mutant %q: %s has this %d times, not once:\n%s", m.Name, e.File, n, e.Old)
		}
		texts[e.File] = strings.Replace(text, e.Old, e.New, 1)
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

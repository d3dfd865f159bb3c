// Package overlay plants edits in files of this repository for a single build, for modules chaos and mutants: the files
// themselves stay as they are.
package overlay

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Texts are files as a build is to see them, by their paths from the root of the repository.
type Texts map[string]string

// Replace puts one piece of text in place of another in a file below root, which must have that exactly once.
func (t Texts) Replace(root, file, piece, with string) error {
	text, again := t[file]
	if !again {
		read, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		text = string(read)
	}
	if n := strings.Count(text, piece); n != 1 {
		return fmt.Errorf("%s has this %d times, not once:\n%s", file, n, piece)
	}
	t[file] = strings.Replace(text, piece, with, 1)
	return nil
}

// Write writes the files into dir, and with them the list for go build -overlay: of what they stand in for below root,
// which is absolute.
func (t Texts) Write(root, dir string) (list string, err error) {
	replace := make(map[string]string, len(t))
	for file, text := range t {
		to := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
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

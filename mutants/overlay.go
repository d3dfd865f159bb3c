package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// overlay writes the texts of files into dir, and the list of what they stand in for.
func overlay(root string, texts map[string]string, dir string) (list string, err error) {
	replace := make(map[string]string, len(texts))
	for file, text := range texts {
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

// apply returns the texts of the files that m edits, edited.
func apply(root string, m Mutant) (map[string]string, error) {
	texts := make(map[string]string, 1)
	for _, e := range m.edits() {
		text, again := texts[e.File]
		if !again {
			original, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, err
			}
			text = string(original)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("mutant %q: %s has this %d times, not once:\n%s", m.Name, e.File, n, e.Old)
		}
		texts[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return texts, nil
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// results are what earlier runs have measured of the targets: a file for each day, in a
// folder that is kept with the code. A single run decides nothing, as a machine is not the
// same from one day to the next.
type results struct{ dir string } // "": none are kept

// A day's file is a list of these.
type result struct {
	Workload string             `json:"workload"`
	Targets  map[string]float64 `json:"targets"` // what was measured, by what is to be reached
}

// A past is what was measured of one target, in all runs on all days.
type past struct {
	values []float64
	days   int
}

// add keeps what a run has measured.
func (r results) add(day time.Time, workload string, targets []target) error {
	measured := make(map[string]float64)
	for _, t := range targets {
		if !math.IsNaN(t.got) {
			measured[t.what] = math.Round(t.got*1000) / 1000
		}
	}
	if r.dir == "" || len(measured) == 0 {
		return nil
	}
	path := filepath.Join(r.dir, day.Format(time.DateOnly)+".json")
	runs, err := read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.MarshalIndent(append(runs, result{workload, measured}), "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func read(path string) (runs []result, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &runs)
	}
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	return runs, nil
}

// past collects what was measured of a target of a workload.
func (r results) past(workload, what string) (p past, err error) {
	if r.dir == "" {
		return past{}, nil
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.json"))
	if err != nil {
		return past{}, err
	}
	for _, file := range files {
		runs, err := read(file)
		if err != nil {
			return past{}, err
		}
		before := len(p.values)
		for _, run := range runs {
			if v, ok := run.Targets[what]; ok && run.Workload == workload {
				p.values = append(p.values, v)
			}
		}
		if len(p.values) > before {
			p.days++
		}
	}
	return p, nil
}

// String shows the median and the range.
func (p past) String() string {
	if len(p.values) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s to %s; runs %d, days %d)", amount(median(p.values)),
		amount(slices.Min(p.values)), amount(slices.Max(p.values)), len(p.values), p.days)
}

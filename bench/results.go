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
	"strings"
	"time"
)

// results are what earlier runs have measured: a file for each day, in a folder that is kept
// with the code. A single run decides nothing, as a machine is not the same from one day to
// the next.
type results struct{ dir string } // "": none are kept

// A day's file is a list of these.
type result struct {
	Workload string             `json:"workload"`
	Table    []string           `json:"table,omitempty"`   // its lines as they were printed, the titles first
	Targets  map[string]float64 `json:"targets,omitempty"` // what was measured, by what is to be reached
}

// A past is what was measured of one target, in all runs on all days.
type past struct {
	values []float64
	days   int
	day    string // the last
}

// add keeps what a run has measured.
func (r results) add(day time.Time, workload string, t *table, targets []target) error {
	measured := make(map[string]float64)
	for _, t := range targets {
		if !math.IsNaN(t.got) {
			measured[t.what] = math.Round(t.got*1000) / 1000
		}
	}
	if r.dir == "" {
		return nil
	}
	path := filepath.Join(r.dir, day.Format(time.DateOnly)+".json")
	runs, err := read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := json.MarshalIndent(append(runs, result{workload, t.lines(), measured}), "", "\t")
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

// each calls f for every run of a workload, the earliest day first.
func (r results) each(workload string, f func(day string, run result)) error {
	if r.dir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		runs, err := read(file)
		if err != nil {
			return err
		}
		for _, run := range runs {
			if run.Workload == workload {
				f(strings.TrimSuffix(filepath.Base(file), ".json"), run)
			}
		}
	}
	return nil
}

// past collects what was measured of a target of a workload.
func (r results) past(workload, what string) (p past, err error) {
	err = r.each(workload, func(day string, run result) {
		if v, ok := run.Targets[what]; ok {
			p.add(day, v)
		}
	})
	return p, err
}

// add takes in a value of a day, which is no earlier than those before.
func (p *past) add(day string, value float64) {
	p.values = append(p.values, value)
	if day != p.day {
		p.day = day
		p.days++
	}
}

// String shows the median and the range.
func (p past) String() string {
	if len(p.values) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s to %s; runs %d, days %d)", amount(median(p.values)),
		amount(slices.Min(p.values)), amount(slices.Max(p.values)), len(p.values), p.days)
}

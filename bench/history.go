package main

import (
	"slices"
	"strconv"
	"strings"
)

// A history is what the kept runs have shown of one workload.
type history struct {
	days []string // one for each run
	rows []kept
}

// A kept is a line of a run's table: its cells by the titles of their columns.
type kept struct {
	run   int
	day   string
	cells map[string]string
}

func (r results) history(workload string) (h history, err error) {
	err = r.each(workload, func(day string, run result) {
		if len(run.Table) == 0 {
			return
		}
		h.days = append(h.days, day)
		titles := strings.Split(run.Table[0], cellEnd)
		for _, line := range run.Table[1:] {
			cells := make(map[string]string)
			for i, cell := range strings.Split(line, cellEnd) {
				cells[titles[i]] = cell
			}
			h.rows = append(h.rows, kept{len(h.days), day, cells})
		}
	})
	return h, err
}

// labels choose rows: the cells that these must have.
type labels map[string]string

// with is l and one more.
func (l labels) with(title, cell string) labels {
	more := labels{title: cell}
	for t, c := range l {
		more[t] = c
	}
	return more
}

// each calls f with what the rows that l chooses have in one column.
func (h history) each(column string, l labels, f func(row kept, v float64)) {
	for _, row := range h.rows {
		chosen := true
		for title, cell := range l {
			chosen = chosen && row.cells[title] == cell
		}
		if v, err := strconv.ParseFloat(row.cells[column], 64); chosen && err == nil {
			f(row, v)
		}
	}
}

// figure collects what all runs have shown in one column of the rows that l chooses.
func (h history) figure(column string, l labels) (p past) {
	h.each(column, l, func(row kept, v float64) { p.add(row.day, v) })
	return p
}

// ratios are what one row has divided by what another of the same run has.
func (h history) ratios(column string, of, by labels) (list []float64) {
	h.each(column, of, func(row kept, v float64) {
		h.each(column, by, func(other kept, w float64) {
			if other.run == row.run {
				list = append(list, v/w)
			}
		})
	})
	return list
}

// String tells what the figures are of.
func (h history) String() string {
	days := slices.Compact(slices.Clone(h.days))
	switch {
	case len(h.days) == 1:
		return "one run, " + days[0]
	case len(days) == 1:
		return "median and range of " + strconv.Itoa(len(h.days)) + " runs, " + days[0]
	}
	return "median and range of " + strconv.Itoa(len(h.days)) + " runs on " + strconv.Itoa(len(days)) +
		" days, " + days[0] + " to " + days[len(days)-1]
}

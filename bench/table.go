package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A column shows one figure.
type column struct {
	title  string
	figure string
	worst  bool // of the repetitions, in place of the median
	format func(float64) string
}

// A table is Markdown, with columns that line up in plain text as well.
type table struct {
	title []string // of the columns
	rows  [][]string
}

// newTable makes one whose lines begin with labels, such as N and the contender.
func newTable(labels []string, columns []column) *table {
	t := &table{title: labels}
	for _, c := range columns {
		t.title = append(t.title, c.title)
	}
	return t
}

// add appends a line for each contender of s, after the same labels.
func (t *table) add(s *samples, columns []column, labels ...string) {
	for _, name := range s.order {
		row := append(append([]string{}, labels...), name)
		for _, c := range columns {
			v := s.median(name, c.figure)
			if c.worst {
				v = s.worst(name, c.figure)
			}
			row = append(row, c.format(v))
		}
		t.rows = append(t.rows, row)
	}
}

// print writes the table.
func (t *table) print(w io.Writer) {
	width := make([]int, len(t.title))
	for _, row := range append([][]string{t.title}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell), 3)
		}
	}
	line := func(row []string) {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if t.number(i) {
				fmt.Fprintf(&b, "| %s%s ", pad, cell)
			} else {
				fmt.Fprintf(&b, "| %s%s ", cell, pad)
			}
		}
		fmt.Fprintln(w, b.String()+"|")
	}
	line(t.title)
	var b strings.Builder
	for i, n := range width {
		if t.number(i) {
			fmt.Fprintf(&b, "|%s:", strings.Repeat("-", n+1))
		} else {
			fmt.Fprintf(&b, "|%s", strings.Repeat("-", n+2))
		}
	}
	fmt.Fprintln(w, b.String()+"|")
	for _, row := range t.rows {
		line(row)
	}
}

// lines are the titles and the rows with nothing around the cells.
func (t *table) lines() []string {
	lines := []string{strings.Join(t.title, cellEnd)}
	for _, row := range t.rows {
		lines = append(lines, strings.Join(row, cellEnd))
	}
	return lines
}

// cellEnd stands between the cells of a kept line.
const cellEnd = " | "

// number tells whether a column holds numbers, which line up at their ends.
func (t *table) number(i int) bool {
	for _, row := range t.rows {
		if _, err := strconv.ParseFloat(row[i], 64); err != nil && row[i] != none {
			return false
		}
	}
	return len(t.rows) > 0
}

// none stands for a figure that does not exist.
const none = "-"

// whole, tenths and thousandths show a number with so many digits.
func whole(v float64) string { return digits(v, 0) }

func tenths(v float64) string { return digits(v, 1) }

func thousandths(v float64) string { return digits(v, 3) }

func digits(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	return fmt.Sprintf("%.*f", n, v)
}

// short shows microseconds with three digits at least.
func short(v float64) string {
	if v < 100 {
		return digits(v, 1)
	}
	return digits(v, 0)
}

// millis shows microseconds in milliseconds.
func millis(v float64) string { return digits(v/1e3, 2) }

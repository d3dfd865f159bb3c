package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// printCells prints the results as a table, which is Markdown too.
func printCells(w io.Writer, results []*Result) {
	rows := [][]string{{"fault", "N", "operations", "faults injected", "violations", "longest without progress", "excused"}}
	for _, r := range results {
		violations := fmt.Sprint(r.Violations)
		if r.Err != nil {
			violations = "did not run"
		}
		rows = append(rows, []string{
			r.Cell.Name, fmt.Sprint(r.Cell.N), fmt.Sprint(r.Operations), fmt.Sprint(r.Faults), violations,
			fmt.Sprintf("%.2f s", r.Stall.Seconds()), fmt.Sprint(r.Excused),
		})
	}
	printTable(w, rows)
}

// printMutants prints which run caught which planted bug.
func printMutants(w io.Writer, catches []*Catch) {
	rows := [][]string{{"planted bug", "caught by", "in cell", "seed", "after", "operations"}}
	for _, c := range catches {
		by := "NOT CAUGHT by " + c.Mutant.By
		switch {
		case c.Err != nil:
			by = "did not run: " + firstLine(c.Err)
		case c.caught():
			by = c.Mutant.By
		}
		rows = append(rows, []string{
			c.Mutant.Name, by, c.Mutant.Cell.String(), fmt.Sprint(c.Mutant.Seed),
			fmt.Sprintf("%.0f s", c.After.Round(time.Second).Seconds()), fmt.Sprint(c.Calls),
		})
	}
	printTable(w, rows)
}

func printTable(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			fmt.Fprint(w, "| ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		fmt.Fprintln(w, "|")
		if n > 0 {
			continue
		}
		for _, width := range widths {
			fmt.Fprint(w, "|", strings.Repeat("-", width+2))
		}
		fmt.Fprintln(w, "|")
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

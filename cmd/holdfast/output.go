package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// A sink is stdout. It remembers that something could not be written, so that whoever prints text need not look.
// It is for one goroutine.
type sink struct {
	to  io.Writer
	err error // of the first write that failed
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// document prints one JSON document on one line.
func document(out io.Writer, v any) error { return json.NewEncoder(out).Encode(v) }

// A table is printed with aligned columns.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer, columns ...string) *table {
	t := &table{tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)}
	t.row(columns...)
	return t
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		if c == "" {
			c = "-"
		}
		cells[i] = printable(c)
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t *table) flush() { _ = t.w.Flush() } // a sink remembers that it failed

// oneLine is text that others may have had a part in, on one line: errors that were joined have one each.
func oneLine(text string) string { return printable(strings.ReplaceAll(text, "\n", "; ")) }

// printable replaces what could steer a terminal: anybody who can write to the servers chooses names and labels.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

package main

import (
	"fmt"
	"os"
	"strings"
)

// A page is a Markdown file whose tables the bench keeps. Those of a workload stand
// between <!-- bench:NAME --> and <!-- end -->; the rest is written by hand.
type page struct{ path string }

// set replaces the tables of one workload.
func (p page) set(name, tables string) error {
	text, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	begin := "<!-- bench:" + name + " -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, "<!-- end -->")
	if !found || !ended {
		return fmt.Errorf("%s has no place for %s", p.path, name)
	}
	return os.WriteFile(p.path, []byte(before+begin+strings.Trim(tables, "\n")+"\n<!-- end -->"+after), 0o644)
}

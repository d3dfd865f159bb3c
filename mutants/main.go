package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	which := flag.String("mutant", "", "only mutants whose name, or file, this regular expression matches")
	pkg := flag.String("pkg", "", "only mutants of files in this package")
	parallel := flag.Int("parallel", 2, "mutants at a time")
	list := flag.Bool("list", false, "print the mutants, and do nothing")
	show := flag.Bool("show", false, "print what the tests print, too")
	flag.Parse()
	chosen, err := choose(mutants(), *which, *pkg)
	if err != nil {
		fatal(err)
	}
	if *list {
		for _, m := range chosen {
			fmt.Printf("%s: %s (%s: %s)\n", m.File, m.Name, m.Package, m.Tests)
		}
		return
	}
	root, err := filepath.Abs("..")
	if err != nil {
		fatal(err)
	}
	c := &court{root: root, limit: time.Minute, show: *show}
	r, err := c.session(chosen, *parallel, os.Stdout)
	c.close()
	if err != nil {
		fatal(err)
	}
	r.write(os.Stdout)
	if !r.ok() {
		os.Exit(1)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// choose narrows mutants down.
func choose(all []Mutant, which, pkg string) (chosen []Mutant, err error) {
	names, err := regexp.Compile(which)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if (names.MatchString(m.Name) || names.MatchString(m.File)) && (pkg == "" || filepath.Dir(m.File) == pkg) {
			chosen = append(chosen, m)
		}
	}
	if chosen == nil {
		return nil, fmt.Errorf("there is no such mutant")
	}
	return chosen, nil
}

// session tries mutants, so many at a time, and tells of each on out.
func (c *court) session(mutants []Mutant, parallel int, out io.Writer) (*Report, error) {
	began := time.Now()
	tests := make(map[string][]string)
	for _, m := range mutants {
		// All texts first: a mutant that was left behind by a change is told of at once.
		if _, err := m.texts(c.root); err != nil {
			return nil, err
		}
		if m.Equivalent == "" && !slices.Contains(tests[m.Package], m.Tests) {
			tests[m.Package] = append(tests[m.Package], m.Tests)
		}
	}
	packages := slices.Sorted(maps.Keys(tests))
	innocent := make([]error, len(packages))
	each(len(packages), parallel, func(i int) {
		innocent[i] = c.acquit(packages[i], strings.Join(tests[packages[i]], "|"))
	})
	if err := errors.Join(innocent...); err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "without mutants the tests pass (%v)\n", time.Since(began).Round(time.Second))

	r := &Report{Verdicts: make([]Verdict, len(mutants))}
	var mu sync.Mutex // of out
	each(len(mutants), parallel, func(i int) {
		v := c.try(mutants[i])
		r.Verdicts[i] = v
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprint(out, v.Output)
		fmt.Fprintln(out, v.line())
	})
	r.Took = time.Since(began)
	return r, nil
}

// each calls f with 0 to n-1, so many at a time.
func each(n, parallel int, f func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

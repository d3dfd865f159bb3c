package main

import (
	"fmt"
	"math"
)

// samples are the figures of several contenders in several repetitions.
type samples struct {
	order []string             // of the contenders
	of    map[string][]figures // by contender, in the order of the repetitions
}

// compare has the contenders take turns, as often as the bench repeats. Each repetition
// begins with another one, so that nobody always comes after the same.
func (b *bench) compare(list []contender, run func(contender) (figures, error)) (*samples, error) {
	s := &samples{of: make(map[string][]figures)}
	for _, c := range list {
		s.order = append(s.order, c.name)
	}
	for i := range b.repeat {
		for k := range list {
			c := list[(i+k)%len(list)]
			f, err := run(c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			s.of[c.name] = append(s.of[c.name], f)
		}
	}
	return s, nil
}

// median is that of a contender's figure over the repetitions.
func (s *samples) median(name, figure string) float64 {
	var values []float64
	for _, f := range s.of[name] {
		if v, ok := f[figure]; ok && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return median(values)
}

// worst is the greatest of a contender's figure.
func (s *samples) worst(name, figure string) float64 {
	worst := math.NaN()
	for _, f := range s.of[name] {
		if v := f[figure]; math.IsNaN(worst) || v > worst {
			worst = v
		}
	}
	return worst
}

// ratio is the median over the repetitions of one contender's figure divided by
// another's, each taken within one repetition.
func (s *samples) ratio(name, figure, other string) float64 {
	var values []float64
	for i, f := range s.of[name] {
		if i < len(s.of[other]) {
			if r := f[figure] / s.of[other][i][figure]; !math.IsNaN(r) {
				values = append(values, r)
			}
		}
	}
	return median(values)
}

// best is which of the peers has the best median, and the ratio to it.
func (s *samples) best(name, figure string, most bool, peers ...string) (peer string, ratio float64) {
	best := math.NaN()
	for _, p := range peers {
		v := s.median(p, figure)
		if !math.IsNaN(v) && (math.IsNaN(best) || most == (v > best)) {
			peer, best = p, v
		}
	}
	return peer, s.ratio(name, figure, peer)
}

// within is the median of one figure of a contender divided by another of the same run.
func (s *samples) within(name, figure, other string) float64 {
	var values []float64
	for _, f := range s.of[name] {
		if r := f[figure] / f[other]; !math.IsNaN(r) {
			values = append(values, r)
		}
	}
	return median(values)
}

package main

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
)

// lines show how figures grow with the number of goroutines: panels side by side, both
// axes logarithmic.
type lines struct {
	of         string // the workload
	title      string
	along      string // the column of the horizontal axis
	rows       labels
	contenders []string
	panels     []scale
}

// A scale is the vertical axis of a panel.
type scale struct {
	title, column, unit string
}

const (
	plotHeight = 210.0
	yLabels    = 40.0 // left of a panel
	endLabels  = 86.0 // right of it
)

// show is a number on the axis.
func (p scale) show(v float64) string {
	if p.unit == "ms" && v >= 1000 {
		return grouped(v/1000) + " s"
	}
	return strings.TrimSpace(grouped(v) + " " + p.unit)
}

func (c lines) workload() string { return c.of }

func (c lines) draw(t theme, h history) *sheet {
	s := frame(t, headRoom+panelHead+plotHeight+axisRoom+10+footRoom, c.title,
		"less is better; both axes are logarithmic; 1 ms: tries again after a millisecond", h)
	width := (pageWidth - gutter*float64(len(c.panels)-1)) / float64(len(c.panels))
	for i, p := range c.panels {
		c.panel(s, h, p, float64(i)*(width+gutter), headRoom, width)
	}
	return s
}

func (c lines) panel(s *sheet, h history, p scale, x, y, width float64) {
	s.write(x+2, y+6, lettering{size: 10.5, color: s.ink, bold: true, align: left}, p.title)
	y += panelHead
	stops := c.stops(h)
	least, greatest := math.Inf(1), 0.0
	for _, contender := range c.contenders {
		for _, stop := range stops {
			for _, v := range c.figure(h, p, contender, stop).values {
				least, greatest = min(least, v), max(greatest, v)
			}
		}
	}
	low, high := math.Floor(math.Log10(least)), math.Ceil(math.Log10(greatest))
	first, last := math.Log(stops[0]), math.Log(stops[len(stops)-1])
	x0, x1, bottom := x+yLabels, x+width-endLabels, y+plotHeight
	atX := func(v float64) float64 { return x0 + (math.Log(v)-first)/(last-first)*(x1-x0) }
	atY := func(v float64) float64 { return bottom - (math.Log10(v)-low)/(high-low)*plotHeight }

	small := lettering{size: 8.5, color: s.muted, align: right}
	for e := low; e <= high; e++ {
		v := math.Pow(10, e)
		s.line(stroke{color: s.grid, width: 0.6}, x0, atY(v), x1, atY(v))
		s.write(x0-5, atY(v), small, p.show(v))
	}
	small.align = middle
	for _, stop := range stops {
		s.line(stroke{color: s.muted, width: 0.8}, atX(stop), bottom, atX(stop), bottom+3)
		s.write(atX(stop), bottom+10, small, strconv.FormatFloat(stop, 'f', -1, 64))
	}
	s.write((x0+x1)/2, bottom+22, small, c.along)
	s.line(stroke{color: s.muted, width: 0.8}, x0, bottom, x1, bottom)

	type end struct {
		contender string
		y         float64
	}
	var ends []end
	// The library's own come last, above the others.
	for _, contender := range slices.Backward(c.contenders) {
		k := s.stroke(contender)
		var points []float64
		for _, stop := range stops {
			measured := c.figure(h, p, contender, stop)
			if len(measured.values) == 0 {
				continue
			}
			points = append(points, atX(stop), atY(median(measured.values)))
			s.line(stroke{color: k.color, width: 1}, atX(stop), atY(slices.Min(measured.values)), atX(stop), atY(slices.Max(measured.values)))
		}
		if len(points) == 0 {
			continue
		}
		s.line(k, points...)
		for i := 0; i < len(points); i += 2 {
			s.dot(points[i], points[i+1], k.width+0.4, k.color)
		}
		ends = append(ends, end{contender, points[len(points)-1]})
	}
	// Each line is named at its end, where there is room.
	const pitch = 11.5
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	ys := make([]float64, len(ends))
	for i, e := range ends {
		ys[i] = e.y
	}
	for range 200 {
		ys[0], ys[len(ys)-1] = max(ys[0], y), min(ys[len(ys)-1], bottom)
		for i := 1; i < len(ys); i++ {
			if overlap := pitch - (ys[i] - ys[i-1]); overlap > 0 {
				ys[i-1] -= overlap / 2
				ys[i] += overlap / 2
			}
		}
	}
	for i, e := range ends {
		k := s.stroke(e.contender)
		s.line(stroke{color: k.color, width: 0.6}, x1+4, e.y, x1+10, ys[i])
		s.write(x1+12, ys[i], lettering{size: 9.5, color: k.color, bold: s.ours(e.contender), align: left}, called(e.contender))
	}
}

// stops are the values of the horizontal axis.
func (c lines) stops(h history) (stops []float64) {
	for _, row := range h.rows {
		if v, err := strconv.ParseFloat(row.cells[c.along], 64); err == nil && !slices.Contains(stops, v) {
			stops = append(stops, v)
		}
	}
	slices.Sort(stops)
	return stops
}

func (c lines) figure(h history, p scale, contender string, stop float64) past {
	return h.figure(p.column, c.rows.with("contender", contender).with(c.along, strconv.FormatFloat(stop, 'f', -1, 64)))
}

func (t theme) ours(contender string) bool { return contender == "holdfast" || contender == "fair" }

// stroke is a contender's line. Dashes tell apart what colours do not.
func (t theme) stroke(contender string) stroke {
	patience := []float64(nil)
	if strings.HasSuffix(contender, "-1ms") {
		patience = []float64{2, 2}
	}
	var c color.Color
	switch strings.TrimSuffix(contender, "-1ms") {
	case "holdfast":
		return stroke{color: t.blue, width: 2.2}
	case "fair":
		return stroke{color: t.green, width: 2.2}
	case "redsync":
		c = t.orange
	case "redislock":
		c = t.magenta
	default:
		c, patience = t.muted, []float64{6, 2}
	}
	return stroke{color: c, width: 1.3, dashes: patience}
}

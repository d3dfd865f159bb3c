package main

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// bars show one figure of each contender, in panels. Those of a row share a scale.
type bars struct {
	of         string // the workload
	title      string
	column     string
	unit       string
	better     string // more, or less
	ratios     bool   // the first contender's figure divided by each of the others' is shown, too
	panels     [][]panel
	contenders []string
}

// A panel shows the rows that labels choose.
type panel struct {
	title  string
	labels labels
}

const (
	barHeight = 14.0
	barPitch  = 20.0
	panelHead = 20.0
	axisRoom  = 26.0
)

func (c bars) workload() string { return c.of }

func (c bars) draw(t theme, h history) *sheet {
	height := headRoom + footRoom
	rows := make([]float64, len(c.panels)) // their heights
	for i, row := range c.panels {
		for _, p := range row {
			rows[i] = max(rows[i], panelHead+float64(len(c.present(h, p)))*barPitch+axisRoom)
		}
		height += rows[i]
	}
	subtitle := c.better
	if c.ratios {
		subtitle += "; × n: Holdfast's figure is n times this one"
	}
	if slices.ContainsFunc(c.contenders, outlined) {
		subtitle += "; outlined: floors, which do no more than must be done"
	}
	s := frame(t, height, c.title, subtitle, h)
	y := headRoom
	for i, row := range c.panels {
		most := 0.0
		for _, p := range row {
			for _, name := range c.present(h, p) {
				most = max(most, slices.Max(h.figure(c.column, p.of(name)).values))
			}
		}
		width := (pageWidth - gutter*float64(len(row)-1)) / float64(len(row))
		for k, p := range row {
			c.panel(s, h, p, float64(k)*(width+gutter), y, width, most)
		}
		y += rows[i]
	}
	return s
}

// of are the labels of a contender's row.
func (p panel) of(contender string) labels { return p.labels.with("contender", contender) }

// present are the contenders that a panel has figures of.
func (c bars) present(h history, p panel) []string {
	return slices.DeleteFunc(slices.Clone(c.contenders), func(name string) bool {
		return len(h.figure(c.column, p.of(name)).values) == 0
	})
}

func (c bars) panel(s *sheet, h history, p panel, x, y, width, most float64) {
	name := lettering{size: 10, color: s.ink, align: right}
	value := lettering{size: 10, color: s.ink, align: left}
	small := lettering{size: 8.5, color: s.muted, align: middle}
	aside := lettering{size: 9, color: s.muted, align: right}
	s.write(x+2, y+6, lettering{size: 10.5, color: s.ink, bold: true, align: left}, p.title)
	y += panelHead

	names, room := 0.0, span(value, rounded(most))+8
	for _, contender := range c.contenders {
		names = max(names, span(name, called(contender)))
	}
	if c.ratios {
		room += span(aside, "× 0.00") + 4
	}
	x0 := x + names + 6
	full := x + width - x0 - room // of the greatest bar
	at := func(v float64) float64 { return x0 + v/most*full }
	present := c.present(h, p)
	bottom := y + float64(len(present))*barPitch
	for _, tick := range (plot.DefaultTicks{}).Ticks(0, most) {
		if tick.IsMinor() || tick.Value > most {
			continue
		}
		s.line(stroke{color: s.muted, width: 0.8}, at(tick.Value), bottom, at(tick.Value), bottom+3)
		s.write(at(tick.Value), bottom+10, small, grouped(tick.Value))
	}
	small.align = right
	s.write(x+width-2, bottom+10, small, c.unit)
	for i, contender := range present {
		top := y + float64(i)*barPitch + (barPitch-barHeight)/2
		mid := top + barHeight/2
		measured := h.figure(c.column, p.of(contender))
		v := median(measured.values)
		s.write(x0-6, mid, name, called(contender))
		if outlined(contender) {
			s.line(stroke{color: s.peer, width: 1},
				x0, top+0.5, at(v)-0.5, top+0.5, at(v)-0.5, top+barHeight-0.5, x0, top+barHeight-0.5, x0, top+0.5)
		} else {
			s.bar(x0, top, at(v)-x0, barHeight, s.fill(contender))
		}
		end := at(v)
		if least, greatest := slices.Min(measured.values), slices.Max(measured.values); least < greatest {
			whisker := stroke{color: s.ink, width: 1}
			s.line(whisker, at(least), mid, at(greatest), mid)
			s.line(whisker, at(least), mid-3, at(least), mid+3)
			s.line(whisker, at(greatest), mid-3, at(greatest), mid+3)
			end = at(greatest)
		}
		s.write(end+4, mid, value, rounded(v))
		if first := c.contenders[0]; c.ratios && contender != first {
			s.write(x+width-2, mid, aside, "× "+amount(median(h.ratios(c.column, p.of(first), p.of(contender)))))
		}
	}
	s.line(stroke{color: s.muted, width: 0.8}, x0, y-1, x0, bottom, at(most), bottom)
}

// fill is the colour of a contender's bar: the library's own stand out.
func (t theme) fill(contender string) color.Color {
	switch {
	case strings.HasPrefix(contender, "holdfast"):
		return t.blue
	case strings.HasPrefix(contender, "fair"):
		return t.green
	}
	return t.peer
}

// rounded shows a number with three digits.
func rounded(v float64) string {
	if v <= 0 {
		return grouped(v)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	if unit < 1 {
		return strconv.FormatFloat(v, 'f', int(math.Round(-math.Log10(unit))), 64)
	}
	return grouped(math.Round(v/unit) * unit)
}

// grouped shows a number with its thousands apart.
func grouped(v float64) string {
	n := strconv.FormatFloat(v, 'f', -1, 64)
	if v < 1000 {
		return n
	}
	for i := len(n) - 3; i > 0; i -= 3 {
		n = n[:i] + "," + n[i:]
	}
	return n
}

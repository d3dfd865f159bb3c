package main

import (
	"bytes"
	"image/color"
	"io"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A theme has the colours of a chart on a light page or on a dark one. Those that tell
// contenders apart are Okabe and Ito's, who chose them so that the colour-blind can, too;
// on dark pages they are lighter.
type theme struct {
	name                         string
	ink, muted, grid, peer       color.Color
	blue, green, orange, magenta color.Color
}

var themes = []theme{
	{
		name: "light",
		ink:  rgb(0x1f2328), muted: rgb(0x59636e), grid: rgb(0xd1d9e0), peer: rgb(0xb1bac4),
		blue: rgb(0x0072b2), green: rgb(0x009e73), orange: rgb(0xd55e00), magenta: rgb(0xaa4a86),
	},
	{
		name: "dark",
		ink:  rgb(0xf0f6fc), muted: rgb(0x9198a1), grid: rgb(0x3d444d), peer: rgb(0x656c76),
		blue: rgb(0x56b4e9), green: rgb(0x2fc79a), orange: rgb(0xf0883e), magenta: rgb(0xdb8fc0),
	},
}

func rgb(c uint32) color.Color {
	return color.NRGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}

// A sheet is what a chart is drawn on. Places are in points from its upper left corner.
type sheet struct {
	theme
	width, height float64
	svg           *vgsvg.Canvas
	canvas        draw.Canvas
	anchors       []string // of the texts, in the order in which they are written
}

func newSheet(t theme, width, height float64) *sheet {
	svg := vgsvg.New(vg.Length(width), vg.Length(height))
	return &sheet{theme: t, width: width, height: height, svg: svg, canvas: draw.New(svg)}
}

func (s *sheet) point(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(s.height - y)}
}

// fonts have the metrics of Arial, which readers have or have something like.
var fonts = font.NewCache(liberation.Collection())

// A lettering is how a text looks.
type lettering struct {
	size  float64
	color color.Color
	bold  bool
	align string // which end of it is at its place
}

// What SVG calls the ends of a text.
const (
	left   = "start"
	middle = "middle"
	right  = "end"
)

func (l lettering) style() text.Style {
	f := font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(l.size))
	if l.bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{
		Color: l.color, Font: f, YAlign: -0.35, // the middle of a digit
		Handler: text.Plain{Fonts: fonts},
	}
}

// write puts a text at a height that goes through the middle of its digits.
func (s *sheet) write(x, y float64, l lettering, txt string) {
	s.canvas.FillText(l.style(), s.point(x, y), txt)
	s.anchors = append(s.anchors, l.align)
}

// span is the width of a text, with a reserve for readers with a wider font.
func span(l lettering, txt string) float64 { return 1.15 * l.style().Width(txt).Points() }

// bar is a filled rectangle.
func (s *sheet) bar(x, y, width, height float64, c color.Color) {
	s.canvas.FillPolygon(c, []vg.Point{
		s.point(x, y), s.point(x+width, y), s.point(x+width, y+height), s.point(x, y+height),
	})
}

// A stroke is how a line looks.
type stroke struct {
	color  color.Color
	width  float64
	dashes []float64
}

func (k stroke) style() draw.LineStyle {
	style := draw.LineStyle{Color: k.color, Width: vg.Length(k.width)}
	for _, d := range k.dashes {
		style.Dashes = append(style.Dashes, vg.Length(d))
	}
	return style
}

// line goes through points, x and y by turns.
func (s *sheet) line(k stroke, xy ...float64) {
	var points []vg.Point
	for i := 0; i < len(xy); i += 2 {
		points = append(points, s.point(xy[i], xy[i+1]))
	}
	s.canvas.StrokeLines(k.style(), points)
}

// dot is a filled circle.
func (s *sheet) dot(x, y, radius float64, c color.Color) {
	s.canvas.DrawGlyphNoClip(draw.GlyphStyle{Color: c, Radius: vg.Length(radius), Shape: draw.CircleGlyph{}}, s.point(x, y))
}

// WriteTo writes the sheet as SVG.
func (s *sheet) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := s.svg.WriteTo(&b); err != nil {
		return 0, err
	}
	// Few readers have Liberation. Without another name of the kind they would see serifs.
	svg := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;", "font-family:Arial,Helvetica,Liberation Sans,sans-serif;")
	// The reader's font has a width of its own, so the reader has to align, too.
	texts := strings.Split(svg, "<text ")
	for i, anchor := range s.anchors {
		texts[i+1] = `text-anchor="` + anchor + `" ` + texts[i+1]
	}
	n, err := io.WriteString(w, strings.Join(texts, "<text "))
	return int64(n), err
}

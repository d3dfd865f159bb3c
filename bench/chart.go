package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A chart shows a workload's figures.
type chart interface {
	// workload is what it is drawn from.
	workload() string
	draw(t theme, h history) *sheet
}

// charts are the files that are drawn, by name: each for light pages and for dark ones.
var charts = map[string]chart{
	"peers": bars{
		of: "many", title: "Lock and unlock: pairs per second, one process", column: rate, unit: rate, better: "more is better", ratios: true,
		panels: [][]panel{{
			{"one Redis, 64 goroutines", labels{"N": "1", "goroutines": "64"}},
			{"five masters, 64 goroutines", labels{"N": "5", "goroutines": "64"}},
		}},
		contenders: []string{"holdfast", "rueidislock", "redislock", "redsync"},
	},
	"solo": bars{
		of: "solo", title: "One caller: the time of a lock and unlock, median", column: "p50 µs", unit: "µs", better: "less is better", ratios: true,
		panels: [][]panel{{
			{"one Redis", labels{"N": "1"}},
			{"five masters", labels{"N": "5"}},
		}},
		contenders: []string{"holdfast", "fair", "redsync", "redislock", "rueidislock", "raw", "baton", "relay"},
	},
	"many": bars{
		of: "many", title: "Many callers with a name each: pairs per second", column: rate, unit: rate, better: "more is better", ratios: true,
		panels: [][]panel{{
			{"one Redis, 64 goroutines", labels{"N": "1", "goroutines": "64"}},
			{"one Redis, 512 goroutines", labels{"N": "1", "goroutines": "512"}},
		}, {
			{"five masters, 64 goroutines", labels{"N": "5", "goroutines": "64"}},
			{"five masters, 512 goroutines", labels{"N": "5", "goroutines": "512"}},
		}},
		contenders: []string{"holdfast", "fair", "rueidislock", "redislock", "redsync", "raw", "scripts"},
	},
	"hot": lines{
		of: "hot", title: "One name in one process, held for 2 ms, on one Redis", along: "goroutines", rows: labels{"N": "1", "hold": "2ms"},
		contenders: []string{"holdfast", "fair", "redsync", "redsync-1ms", "redislock", "redislock-1ms", "rueidislock"},
		panels: []scale{
			{title: "longest wait", column: "longest", unit: "ms"},
			{title: "commands for each lock and unlock", column: commands},
		},
	},
	"processes": lines{
		of: "processes", title: "One name in eight processes, held for 2 ms, on one Redis", along: "goroutines", rows: labels{"N": "1", "hold": "2ms"},
		contenders: []string{"holdfast", "fair", "redsync", "redsync-1ms", "redislock", "redislock-1ms", "rueidislock"},
		panels: []scale{
			{title: "longest wait", column: "longest", unit: "ms"},
			{title: "commands for each lock and unlock", column: commands},
		},
	},
	"fairness": bars{
		of: "fairness", title: "What order costs: from a release to the next grant, median", column: "gap p50 ms", unit: "ms", better: "less is better",
		panels: [][]panel{{
			{"one Redis, 128 goroutines", labels{"N": "1"}},
			{"five masters, 128 goroutines", labels{"N": "5"}},
		}},
		contenders: []string{"holdfast", "fair"},
	},
	"sick": bars{
		of: "sick", title: "Five masters, one of them stopped: pairs per second", column: rate, unit: rate, better: "more is better",
		panels: [][]panel{{
			{"64 goroutines", labels{"goroutines": "64"}},
			{"512 goroutines", labels{"goroutines": "512"}},
		}},
		contenders: []string{"holdfast", "holdfast, one stopped", "fair", "fair, one stopped"},
	},
	"far": bars{
		of: "far", title: "Five masters 2, 3, 5, 8 and 50 ms away: the time to lock, median", column: "lock p50 ms", unit: "ms", better: "less is better",
		panels: [][]panel{{
			{"1 goroutine", labels{"goroutines": "1"}},
			{"64 goroutines", labels{"goroutines": "64"}},
		}},
		contenders: []string{"holdfast", "fair", "redsync", "baton"},
	},
}

// draw draws all charts of the kept results into a folder.
func (r results) draw(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, c := range charts {
		h, err := r.history(c.workload())
		if err != nil {
			return err
		}
		if len(h.rows) == 0 {
			return fmt.Errorf("charts: no results of %s in %q", c.workload(), r.dir)
		}
		for _, t := range themes {
			var svg bytes.Buffer
			_, err := c.draw(t, h).WriteTo(&svg)
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, name+"-"+t.name+".svg"), svg.Bytes(), 0o644)
			}
			if err != nil {
				return fmt.Errorf("charts: %s: %w", name, err)
			}
		}
	}
	return nil
}

// called is a contender as a chart calls it.
func called(contender string) string {
	switch {
	case strings.HasPrefix(contender, "holdfast"):
		return "Holdfast" + strings.TrimPrefix(contender, "holdfast")
	case contender == "fair" || strings.HasPrefix(contender, "fair,"):
		return "Holdfast, " + contender
	case strings.HasSuffix(contender, "-1ms"):
		return strings.TrimSuffix(contender, "-1ms") + ", 1 ms"
	}
	return contender
}

// outlined tells whether a contender is a floor.
func outlined(contender string) bool {
	return slices.Contains([]string{"raw", "scripts", "baton", "relay"}, contender)
}

// What all charts have in common, in points.
const (
	pageWidth = 640.0
	headRoom  = 46.0 // title and subtitle
	footRoom  = 8.0
	gutter    = 28.0 // between panels
)

// frame begins a sheet: title, subtitle, and what the figures are of.
func frame(t theme, height float64, title, subtitle string, h history) *sheet {
	s := newSheet(t, pageWidth, height)
	s.write(2, 10, lettering{size: 12.5, color: t.ink, bold: true, align: left}, title)
	s.write(2, 26, lettering{size: 9.5, color: t.muted, align: left}, subtitle)
	s.write(pageWidth-2, height-7, lettering{size: 8.5, color: t.muted, align: right}, h.String())
	return s
}

package promholdfast_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// exported is what the collector has: labels by metric.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	r := newRig(t, 0)
	r.collector.Observer().Answered(lock.NodeAnswer{Node: "a:1", Command: "acquire", Outcome: "yes"})
	families, err := r.registry.Gather()
	require.NoError(t, err)
	all := make(map[string][]string)
	for _, f := range families {
		for _, l := range f.GetMetric()[0].GetLabel() {
			all[f.GetName()] = append(all[f.GetName()], l.GetName())
		}
	}
	return all
}

func TestTheDocumentedMetricsAreThoseThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/observing.md")
	require.NoError(t, err)
	have := exported(t)
	row := regexp.MustCompile("(?m)^\\| `holdfast\\.[a-z.]+` \\| `(holdfast_[a-z_]+)` \\| (\\w+) \\| ([^|]*) \\|")
	documented := make(map[string]bool)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		documented[name] = true
		require.Contains(t, have, name)
		require.ElementsMatch(t, have[name], strings.Split(strings.ReplaceAll(m[3], "`", ""), ", "), name)
	}
	for name := range have {
		require.True(t, documented[name], "%s is not documented", name)
	}
	for _, m := range regexp.MustCompile("holdfast_[a-z_]+").FindAllString(string(text), -1) {
		require.Contains(t, have, base(m), "somewhere in the text")
	}
}

// The values of labels that are known beforehand are documented.
func TestTheDocumentedValuesAreThoseThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/observing.md")
	require.NoError(t, err)
	documented := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| `holdfast\\.[a-z.]+` \\| (.*) \\|$").FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = m[2]
	}
	families, err := newRig(t, 0).registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetValue() != "" {
					require.Contains(t, documented[l.GetName()], "`"+l.GetValue()+"`", "%s of %s", l.GetName(), f.GetName())
				}
			}
		}
	}
}

// base is the metric of a series.
func base(name string) string {
	for _, suffix := range []string{"_bucket", "_count", "_sum"} {
		if strings.HasSuffix(name, "_seconds"+suffix) {
			return strings.TrimSuffix(name, suffix)
		}
	}
	return name
}

type dashboard struct {
	Title, UID string
	Templating struct {
		List []struct {
			Name, Type, Query string
			Datasource        source
		}
	}
	Panels []struct {
		ID          int
		Title, Type string
		Description string
		Datasource  source
		GridPos     struct{ H, W, X, Y int }
		FieldConfig struct{ Defaults struct{ Unit string } }
		Targets     []struct {
			Expr, LegendFormat string
			Datasource         source
		}
	}
}

type source struct{ Type, UID string }

func TestTheDashboardIsOfWhatTheCollectorHas(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(text, &d))
	require.NotEmpty(t, d.Title)
	require.Equal(t, "datasource", d.Templating.List[0].Name)
	require.Equal(t, "datasource", d.Templating.List[0].Type)
	chosen := source{"prometheus", "${datasource}"}
	have := exported(t)
	shown := make(map[string]bool)
	ids := make(map[int]bool)
	for _, p := range d.Panels {
		require.False(t, ids[p.ID], "%s: its id is another's", p.Title)
		ids[p.ID] = true
		require.NotEmpty(t, p.Title)
		require.NotEmpty(t, p.Description, p.Title)
		require.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.Equal(t, chosen, p.Datasource, p.Title)
		require.Positive(t, p.GridPos.W*p.GridPos.H, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			require.Equal(t, chosen, target.Datasource, p.Title)
			require.NotEmpty(t, target.LegendFormat, p.Title)
			for _, name := range check(t, target.Expr, have) {
				shown[name] = true
			}
		}
	}
	for name := range have {
		require.True(t, shown[name], "no panel shows %s", name)
	}
	for _, v := range d.Templating.List[1:] {
		require.Equal(t, chosen, v.Datasource, v.Name)
		m := regexp.MustCompile(`^label_values\((\w+), *(\w+)\)$`).FindStringSubmatch(v.Query)
		require.NotNil(t, m, v.Query)
		require.Contains(t, append(have[m[1]], "job", "instance"), m[2])
	}
}

// check holds that expr can be parsed, and has only metrics and labels that there are. It returns the metrics. The
// parser is not Prometheus's own, which it follows: that one would bring its clouds' SDKs into the module graph.
func check(t *testing.T, expr string, have map[string][]string) []string {
	t.Helper()
	expr = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h").Replace(expr)
	parsed, err := metricsql.Parse(expr)
	require.NoError(t, err, expr)
	var names, labels []string
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.MetricExpr:
			for _, filters := range e.LabelFilterss {
				for _, f := range filters {
					if f.Label == "__name__" {
						names = append(names, base(f.Value))
					} else {
						labels = append(labels, f.Label)
					}
				}
			}
		case *metricsql.AggrFuncExpr:
			labels = append(labels, e.Modifier.Args...)
		}
	})
	require.NotEmpty(t, names, expr)
	known := []string{"le", "job", "instance"} // of buckets, and of scrapes
	for _, name := range names {
		require.Contains(t, have, name, expr)
		known = append(known, have[name]...)
	}
	for _, l := range labels {
		require.True(t, slices.Contains(known, l), "%s: no label %s", expr, l)
	}
	return names
}

func TestNamesAreNoLabelsUnlessTheyAreMapped(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	require.NoError(t, r.lock(reentrant.New(r.client(), "orders:42")).Unlock(bg))
	r.exceeds(0, "holdfast_node_requests_total")
	families, err := r.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				require.NotEqual(t, "name", l.GetName(), f.GetName())
				require.NotContains(t, l.GetValue(), "orders", f.GetName())
			}
		}
	}
}

// The scrape that the README shows, of one goroutine that has a lock and another one that waits for it: its series are there,
// and whole numbers are what they are there: renewals may be more by now.
func TestTheScrapeOfTheReadmeIsOne(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	r := newRig(t, 1)
	m := reentrant.New(r.client(lock.WithTTL(9*time.Second)), "orders:42")
	l := r.lock(m)
	next := wait(bg, m)
	r.exceeds(0, "holdfast_waiting_oldest_seconds", "kind", "reentrant")
	r.exceeds(0, "holdfast_renewals_total", "kind", "reentrant", "outcome", "confirmed")
	lines := regexp.MustCompile(`(?m)^(holdfast_\w+)\{(.*)\} (\S+)$`).FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(lines), 5)
	for _, line := range lines {
		var labels []string
		for _, l := range regexp.MustCompile(`(\w+)="(\w*)"`).FindAllStringSubmatch(line[2], -1) {
			labels = append(labels, l[1], l[2])
		}
		series := r.metric(base(line[1]), labels...)
		require.Len(t, series.GetLabel(), len(labels)/2, line[0])
		if n, err := strconv.Atoi(line[3]); err == nil {
			if line[1] == "holdfast_renewals_total" {
				require.GreaterOrEqual(t, value(series), float64(n), line[0])
			} else {
				require.EqualValues(t, n, value(series), line[0])
			}
		}
	}
	require.NoError(t, l.Unlock(bg))
	require.NoError(t, r.await(next))
	r.over()
}

package otelholdfast_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/holdfast-go/holdfast/lock"
	otelholdfast "github.com/holdfast-go/holdfast/otel"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// rows are those of the tables in docs/observing.md that begin with what matches first: the words
// in backquotes of each cell.
func rows(t *testing.T, first string) [][][]string {
	t.Helper()
	text, err := os.ReadFile("../docs/observing.md")
	require.NoError(t, err)
	var all [][][]string
	for line := range strings.Lines(string(text)) {
		if !regexp.MustCompile(first).MatchString(line) {
			continue
		}
		var row [][]string
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ") {
			var words []string
			for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
				words = append(words, m[1])
			}
			if len(words) == 0 {
				words = []string{strings.TrimSpace(cell)}
			}
			row = append(row, words)
		}
		all = append(all, row)
	}
	require.NotEmpty(t, all)
	return all
}

// Everything that there is to tell is told by hand, so each instrument has a series.
func TestTheDocumentedInstrumentsAreThoseThatExist(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, otelholdfast.WithNameAttribute(func(name string) string { return name }))
	tell(bg, r.observer)
	attributes := make(map[string]string)
	for _, row := range rows(t, "^\\| (`[a-z]+` )?\\| `(holdfast|error)\\.") {
		attributes[row[0][0]] = row[1][0]
	}
	documented := make(map[string]bool)
	for _, row := range rows(t, "^\\| `holdfast\\.[a-z.]+` \\| `holdfast_") {
		name := row[0][0]
		documented[name] = true
		m, exists := r.metrics()[name]
		require.True(t, exists, "%s is documented", name)
		require.NotEmpty(t, m.Description, name)
		require.Equal(t, kindOf(m), row[2][0], name)
		require.Equal(t, strings.HasSuffix(row[1][0], "_seconds"), m.Unit == "s", name)
		var want []string
		for _, label := range row[3] {
			require.Contains(t, attributes, label)
			want = append(want, attributes[label])
		}
		if slices.Contains(row[3], "kind") {
			want = append(want, attributes["name"])
		}
		for _, p := range points(m) {
			var has []string
			for _, kv := range p.attrs.ToSlice() {
				if kv.Key != "error.type" {
					has = append(has, string(kv.Key))
				}
			}
			require.ElementsMatch(t, want, has, name)
		}
	}
	require.Equal(t, "error.type", attributes[""])
	for name := range r.metrics() {
		require.True(t, documented[name], "%s is not documented", name)
	}
}

func kindOf(m metricdata.Metrics) string {
	switch data := m.Data.(type) {
	case metricdata.Histogram[float64]:
		return "histogram"
	case metricdata.Sum[int64]:
		if data.IsMonotonic {
			return "counter"
		}
	}
	return "gauge"
}

// tell has o told one of each, under ctx: an acquisition that was passed on and lost, one that failed, and
// what nodes say.
func tell(ctx context.Context, o lock.Observer) {
	began := lock.Acquisition{LockKind: lock.LockKind{Kind: "readwrite", Mode: "read"}, Name: "orders", Start: time.Now()}
	call := func(a lock.Acquisition) context.Context {
		ctx := o.Began(ctx, began)
		o.Waits(ctx, began)
		a.Contended = true
		o.Ended(ctx, a)
		return ctx
	}
	ended := began
	ended.Lease, ended.Handover = new(lock.Lease), lock.HandoverPassed
	held := call(ended)
	o.HoldEnded(held, lock.HoldEnd{LockKind: began.LockKind, Name: "orders", Reason: lock.ReasonGone})
	ended = began
	ended.Err = lock.ErrNoQuorum
	call(ended)
	o.Renewed(lock.Renewal{LockKind: began.LockKind, Name: "orders"})
	o.Answered(lock.NodeAnswer{Node: "a:1", Command: "acquire", Outcome: "timeout"})
}

func TestTheDocumentedAttributesOfSpansAreThoseThatExist(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, otelholdfast.WithNameAttribute(func(name string) string { return name }))
	ctx, program := r.tracer.Start(bg, "ship")
	tell(ctx, r.observer)
	program.End()
	found := make(map[string]map[string]bool)
	note := func(on string, list []attribute.KeyValue) {
		if found[on] == nil {
			found[on] = make(map[string]bool)
		}
		for _, kv := range list {
			found[on][string(kv.Key)] = true
		}
	}
	for _, s := range r.spans.Ended() {
		if s.Name() == "lock acquire" {
			note("the span", s.Attributes())
		}
		for _, e := range s.Events() {
			if e.Name == "exception" {
				e.Attributes = nil // which OpenTelemetry documents
			}
			note(e.Name, e.Attributes)
		}
	}
	documented := make(map[string]map[string]bool)
	for _, row := range rows(t, "^\\| the (span|event)") {
		on := make(map[string]bool)
		for _, word := range row[1] {
			if strings.HasPrefix(word, "holdfast.") || word == "error.type" {
				on[word] = true
			}
		}
		documented[row[0][0]] = on
	}
	require.Equal(t, documented, found)
}

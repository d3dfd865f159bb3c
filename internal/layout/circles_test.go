package layout

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// dataRoom is the only room whose files may refer to each other in circles: a tenure has holds, a hold has leases, and each
// of them knows what it is of.
const dataRoom = "What data is there, and who has what?"

// TestFilesDoNotReferInCircles holds that a newcomer who follows what a file of package lock refers to never comes
// back to it, but within the types.
func TestFilesDoNotReferInCircles(t *testing.T) {
	e := read(t)
	var inTypes []string
	for _, r := range rooms {
		if r.question == dataRoom {
			inTypes = r.files
		}
	}
	require.NotEmpty(t, inTypes, "that room has another question")
	for _, circle := range e.circles() {
		outside := slices.DeleteFunc(slices.Clone(circle), func(file string) bool { return slices.Contains(inTypes, file) })
		if !assert.Empty(t, outside, "lock: %v refer to each other in circles", circle) {
			for r := range e.references {
				if slices.Contains(circle, r.from) && slices.Contains(circle, r.to) {
					t.Logf("%s refers to %s of %s", r.from, r.name, r.to)
				}
			}
		}
	}
}

func TestCircleIsFound(t *testing.T) {
	e := engine{
		files: map[string]bool{"a.go": true, "b.go": true, "c.go": true, "d.go": true},
		references: map[reference]bool{
			{"a.go", "f", "b.go"}: true, {"b.go", "g", "c.go"}: true, {"c.go", "h", "b.go"}: true, {"c.go", "i", "d.go"}: true,
		},
	}
	require.Equal(t, [][]string{{"b.go", "c.go"}}, e.circles())
	delete(e.references, reference{"c.go", "h", "b.go"})
	require.Empty(t, e.circles())
}

// circles returns the sets of files of which each leads to each other one.
func (e engine) circles() (circles [][]string) {
	leads := make(map[string]map[string]bool) // from, to
	for file := range e.files {
		leads[file] = make(map[string]bool)
		for next := []string{file}; len(next) > 0; next = next[1:] {
			for r := range e.references {
				if r.from == next[0] && !leads[file][r.to] {
					leads[file][r.to] = true
					next = append(next, r.to)
				}
			}
		}
	}
	seen := make(map[string]bool)
	for file := range e.files {
		if seen[file] || !leads[file][file] {
			continue
		}
		var circle []string
		for other := range leads[file] {
			if leads[other][file] {
				seen[other] = true
				circle = append(circle, other)
			}
		}
		slices.Sort(circle)
		circles = append(circles, circle)
	}
	return circles
}

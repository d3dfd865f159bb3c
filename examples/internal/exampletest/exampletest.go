// Package exampletest runs an example as a test: on embedded nodes, and on real ones
// where there is a redis-server.
package exampletest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// Main is the TestMain of an example: it fails if the example leaves a goroutine.
func Main(m *testing.M) {
	redistest.Main(m, redistest.IgnoreRedials()) // clients of such nodes look for them up to a second longer
}

// Run runs example on n nodes of each sort, and has check look at what it told.
func Run(t *testing.T, n int, example nodes.Example, check func(t *testing.T, told Told)) {
	t.Run("embedded", func(t *testing.T) {
		set, err := nodes.Embed(n)
		if err != nil {
			t.Fatal(err)
		}
		run(t, set, example, check)
	})
	t.Run("real", func(t *testing.T) {
		servers := redistest.StartN(t, n)
		run(t, nodes.Connect(redistest.Addrs(servers)), example, check)
		for _, s := range servers {
			for _, key := range s.Keys(t) {
				// Fencing counters stay for a day, and a node that was taken away keeps
				// its key for a TTL. Nothing stays for good.
				if !hasTTL(t, s, key) {
					t.Errorf("%s stays on %s for good", key, s.Addr())
				}
			}
		}
	})
}

func run(t *testing.T, set *nodes.Set, example nodes.Example, check func(*testing.T, Told)) {
	t.Helper()
	defer set.Close()
	var out bytes.Buffer
	err := example(t.Context(), set, story.New(&out))
	t.Logf("told:\n%s", &out)
	if err != nil {
		t.Fatal(err)
	}
	check(t, Told(out.String()))
}

func hasTTL(t *testing.T, s *redistest.Server, key string) bool {
	ttl, err := s.Client(t).PTTL(t.Context(), key).Result()
	return err == nil && ttl != -1
}

// Told is what an example has told.
type Told string

// InOrder fails the test unless the parts occur, one after the other.
func (told Told) InOrder(t *testing.T, parts ...string) {
	t.Helper()
	rest := string(told)
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing where it was expected, before:\n%s", part, rest)
		}
		rest = after
	}
}

// Count tells how often part occurs.
func (told Told) Count(part string) int { return strings.Count(string(told), part) }

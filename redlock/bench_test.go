package redlock_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/echo"
)

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{1, 3, 5, 9} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			g, m := met(b, echo.Nodes(b, n)...), probe()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = g.Decide(bg, m)
			}
		})
	}
}

func BenchmarkDecideInParallel(b *testing.B) {
	for _, n := range []int{1, 5} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			g, m := met(b, echo.Nodes(b, n)...), probe()
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, _ = g.Decide(bg, m)
				}
			})
		})
	}
}

// A ballot does not come to allocate more unnoticed: a few for itself, and a few for
// each node. The bounds are a little above what was measured; lower them when it has
// become less.
func TestAllocationsOfABallot(t *testing.T) {
	for _, c := range []struct {
		nodes int
		most  float64
	}{{1, 5}, {5, 35}} {
		t.Run(fmt.Sprintf("N=%d", c.nodes), func(t *testing.T) {
			g, m := met(t, echo.Nodes(t, c.nodes)...), probe()
			got := testing.AllocsPerRun(500, func() {
				if b, err := g.Decide(bg, m); err != nil || !b.Won() {
					t.Error("lost", err)
				}
			})
			t.Logf("%.0f allocations of a ballot", got)
			require.LessOrEqual(t, got, c.most)
		})
	}
}

package promholdfast

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A gauge that goes up for a name must go down for it, not for those that the table has no room for.
func TestAKeyKeepsItsValueThoughItFillsTheTable(t *testing.T) {
	const callers = 8
	for range 100 {
		var calls atomic.Int32
		all := table[string, *string]{rest: "other", most: 1, make: func(k string) *string {
			for calls.Load() < callers { // all have seen that there is no a, or are about to
				runtime.Gosched()
			}
			for range 100 {
				runtime.Gosched()
			}
			return &k
		}}
		var got [callers]*string
		var goroutines sync.WaitGroup
		for i := range got {
			goroutines.Go(func() {
				calls.Add(1)
				got[i] = all.of("a")
			})
		}
		goroutines.Wait()
		for _, v := range got {
			require.Equal(t, "a", *v)
			require.Same(t, got[0], v)
		}
		require.Equal(t, "other", *all.of("b"))
	}
}

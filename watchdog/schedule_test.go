package watchdog

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWardIsDueAtTheEarlierOfItsDates(t *testing.T) {
	const early, late = instant(1), instant(2)
	for _, c := range []struct{ renewAt, endAt, due instant }{
		{early, late, early},
		{late, early, early},
		{early, early, early},
		{early, never, early},
		{never, late, late},
		{never, never, never},
	} {
		w := &Ward{renewAt: c.renewAt, endAt: c.endAt}
		require.Equal(t, c.due, w.due())
	}
}

func TestScheduleKeepsTheEarliestFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	date := func() instant { return instant(random.Int64N(1000)) + 1 }
	var s schedule
	var in []*Ward
	for range 2000 {
		switch random.IntN(4) {
		case 0, 1:
			w := &Ward{endAt: date()}
			if random.IntN(2) == 0 {
				w.renewAt = date()
			}
			heap.Push(&s, w)
			in = append(in, w)
		case 2:
			if len(in) > 0 {
				w := in[random.IntN(len(in))]
				w.renewAt, w.endAt = date(), date()
				heap.Fix(&s, w.index-1)
			}
		case 3:
			if len(in) > 0 {
				i := random.IntN(len(in))
				heap.Remove(&s, in[i].index-1)
				require.Zero(t, in[i].index)
				in = slices.Delete(in, i, i+1)
			}
		}
		require.Len(t, s, len(in))
		for i, w := range s {
			if w.index != i+1 {
				t.Fatalf("the ward at %d believes to be at %d", i+1, w.index)
			}
		}
	}
	var last instant
	for len(s) > 0 {
		w := heap.Pop(&s).(*Ward)
		require.LessOrEqual(t, last, w.due())
		require.Zero(t, w.index)
		last = w.due()
	}
}

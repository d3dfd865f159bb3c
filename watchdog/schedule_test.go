package watchdog

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWardIsDueAtTheEarlierOfItsDates(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	for _, c := range []struct{ renewAt, endAt, due time.Time }{
		{early, late, early},
		{late, early, early},
		{early, early, early},
		{early, time.Time{}, early},
		{time.Time{}, late, late},
		{time.Time{}, time.Time{}, time.Time{}},
	} {
		w := &Ward{renewAt: c.renewAt, endAt: c.endAt}
		require.Equal(t, c.due, w.due())
	}
}

func TestScheduleKeepsTheEarliestFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	date := func() time.Time { return time.Unix(random.Int64N(1000), 0) }
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
	var last time.Time
	for len(s) > 0 {
		w := heap.Pop(&s).(*Ward)
		require.False(t, w.due().Before(last))
		require.Zero(t, w.index)
		last = w.due()
	}
}

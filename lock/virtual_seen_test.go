package lock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// What operators read: it is what a quorum has, and no more.

// The key lives on a quorum until the first of the longest-lived quorum of keys has expired. One
// without a TTL outlives all others.
func TestInspectTellsTheTTLOfAQuorum(t *testing.T) {
	const never = 0
	for name, c := range map[string]struct {
		ttls []time.Duration
		want time.Duration
	}{
		"one":                 {[]time.Duration{20 * time.Second}, 20 * time.Second},
		"one for ever":        {[]time.Duration{never}, -1},
		"three":               {[]time.Duration{10 * time.Second, 30 * time.Second, 20 * time.Second}, 20 * time.Second},
		"one of three":        {[]time.Duration{10 * time.Second, never, 20 * time.Second}, 20 * time.Second},
		"two of three":        {[]time.Duration{never, 10 * time.Second, never}, -1},
		"five":                {[]time.Duration{50 * time.Second, 10 * time.Second, 40 * time.Second, 20 * time.Second, 30 * time.Second}, 30 * time.Second},
		"two of five for all": {[]time.Duration{never, 10 * time.Second, never, 20 * time.Second, 30 * time.Second}, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{len(c.ttls)}, func(t *testing.T, w *world) {
				m := w.process().mutex(lock.WithoutWatchdog(), lock.WithTTL(time.Minute))
				l := w.lock(m)
				for i, n := range w.nodes {
					if c.ttls[i] == never {
						n.Memory().Del(keys.Lock)
						n.Memory().HSet(keys.Lock, l.ID(), "1")
					} else {
						n.Memory().SetTTL(keys.Lock, c.ttls[i])
					}
				}
				s, err := m.Inspect(bg)
				require.NoError(t, err)
				require.True(t, s.Held)
				require.Equal(t, l.ID(), s.Holder)
				if c.want < 0 {
					require.Negative(t, s.TTL)
				} else {
					require.Equal(t, c.want, s.TTL)
				}
			})
		})
	}
}

// A waiter that only a minority of nodes knows has no place, though those nodes show it. One whose
// life is over has none either.
func TestInspectShowsWhoWaitsOnAQuorum(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		m := w.process().queue()
		w.lock(m)
		stranger := func(n *virtual.Node, id, until string) {
			_, err := n.Memory().ZAdd(keys.Queue(), 0.5, id)
			require.NoError(t, err)
			n.Memory().HSet(keys.Waiters(), id, until+" 1")
		}
		_, _ = w.queueUp(bg)
		for _, n := range w.nodes {
			stranger(n, "dead:1", "1")
		}
		for _, n := range w.minority() {
			stranger(n, "few:1", "9999999999999999")
		}
		for _, n := range w.quorum() {
			stranger(n, "most:1", "9999999999999999")
		}
		s, err := m.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, s.Queue, 2)
		require.Equal(t, "most:1", s.Queue[0])
		require.NotContains(t, s.Queue, "few:1")
		for i, n := range s.Nodes {
			require.Len(t, n.Queue, 2)
			if i < len(w.minority()) {
				require.Equal(t, "few:1", n.Queue[0])
			}
		}
	})
}

// A leftover of a minority holds nothing, and without a TTL it would be there for ever: to end it
// is what ForceUnlock is for.
func TestForceUnlockEndsALeftoverOfAMinority(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		m := w.process().mutex()
		for _, n := range w.minority() {
			n.Memory().HSet(keys.Lock, "a stranger:1", "1")
		}
		s, err := m.Inspect(bg)
		require.NoError(t, err)
		require.False(t, s.Held)
		require.Empty(t, s.Holder)
		_, err = m.ForceUnlock(bg)
		require.NoError(t, err)
		requireHolder(t, "", w.nodes)
	})
}

// Of the tokens that nodes know it is the greatest that a quorum knows: a greater one was never
// given to anybody, or was by nodes that have forgotten it.
func TestInspectTellsTheTokenOfAQuorum(t *testing.T) {
	inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
		for i, n := range w.nodes {
			require.NoError(t, n.Memory().Set(keys.Token(), []string{"7", "9", "8", "6", "5"}[i]))
		}
		s, err := w.process().mutex().Inspect(bg)
		require.NoError(t, err)
		require.EqualValues(t, map[int]int64{3: 8, 5: 7}[len(w.nodes)], s.Token)
		require.EqualValues(t, 9, s.Nodes[1].Token)
	})
}

// The nodes learn of a count with the next renewal, and not all at once: it is what most of those
// say that have the hold.
func TestInspectTellsTheCountOfMostNodes(t *testing.T) {
	for _, counts := range [][]string{{"2", "2", "1"}, {"1", "2", "2"}, {"2", "1", "2"}, {"1", "2", "2", "2", "1"}} {
		inVirtualTime(t, []int{len(counts)}, func(t *testing.T, w *world) {
			m := w.process().mutex(lock.WithoutWatchdog())
			l := w.lock(m)
			for i, n := range w.nodes {
				n.Memory().HSet(keys.Lock, l.ID(), counts[i])
			}
			s, err := m.Inspect(bg)
			require.NoError(t, err)
			require.Equal(t, 2, s.Count)
		})
	}
}

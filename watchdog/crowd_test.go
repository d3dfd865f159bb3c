package watchdog

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const crowd = 10_000

func TestTenThousandWardsAreRenewedOnTimeAndNoneEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ttl, beat = 30 * time.Second, 10 * time.Second
		type state struct {
			due     time.Time
			renewed int
		}
		states := make(map[*Ward]*state, crowd)
		random := rand.New(rand.NewPCG(1, 2))
		batches := 0
		var w *Watchdog
		next := func(ward *Ward) {
			s := states[ward]
			s.due = in(beat - time.Duration(random.Int64N(int64(time.Second))))
			w.Set(ward, s.due, in(ttl))
		}
		w = New(func(due []*Ward) {
			batches++
			for _, ward := range due {
				s := states[ward]
				if early := time.Until(s.due); early < 0 || early > slack {
					t.Errorf("renewed %v early", early)
				}
				s.renewed++
				next(ward)
			}
		})
		defer w.Close()
		for range crowd {
			ward := &Ward{Owner: ending(func() func() { t.Error("it was renewed in time"); return nil })}
			states[ward] = &state{}
			next(ward)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		total := 0
		for _, s := range states {
			if s.renewed < 12 || s.renewed > 13 {
				t.Errorf("renewed %d times", s.renewed)
			}
			total += s.renewed
		}
		require.Less(t, batches, total/3, "they share batches")
	})
}

func TestTenThousandWardsThatAreNotRenewedEndOnTimeOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start := time.Now()
		ends := make(map[*Ward]time.Duration, crowd)
		for i := range crowd {
			ward := l.ward()
			ends[ward] = time.Minute + time.Duration(rand.Int64N(int64(time.Hour)))
			w.Set(ward, noTime, start.Add(ends[ward]))
			if i%3 == 0 {
				w.Forget(ward)
				delete(ends, ward)
			}
		}
		time.Sleep(2 * time.Hour)
		calls := l.all()
		require.Len(t, calls, len(ends))
		for _, c := range calls {
			require.Equal(t, "end", c.what)
			require.Equal(t, ends[c.ward], c.at.Sub(start))
			delete(ends, c.ward)
		}
		require.Empty(t, ends, "each once")
	})
}

func TestConcurrentSetForgetAndClose(t *testing.T) {
	for range 20 {
		var closed atomic.Bool
		check := func() {
			if closed.Load() {
				t.Error("called after Close")
			}
		}
		w := New(func([]*Ward) { check() })
		var sets, ends atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			ward := &Ward{Owner: ending(func() func() {
				check()
				ends.Add(1)
				return nil
			})}
			// Two goroutines for each ward.
			for range 2 {
				wg.Go(func() {
					for range 500 {
						sets.Add(1)
						w.Set(ward, in(rand.N(time.Millisecond)), in(rand.N(time.Millisecond)-time.Millisecond/4))
						if rand.IntN(4) == 0 {
							w.Forget(ward)
						}
					}
				})
			}
		}
		wg.Go(func() {
			w.Close()
			closed.Store(true)
		})
		wg.Wait()
		w.Close()
		require.LessOrEqual(t, ends.Load(), sets.Load(), "a date ends a ward once at the most")
	}
}

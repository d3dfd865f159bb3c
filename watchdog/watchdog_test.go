package watchdog

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWardIsRenewedOnceAtItsDate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, ward := time.Now(), l.ward()
		w.Set(ward, in(10*time.Second), noTime)
		time.Sleep(time.Hour)
		requireCalls(t, l, ward, start, "renew", 10*time.Second)
	})
}

func TestWardEndsOnceAtItsDate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, ward := time.Now(), l.ward()
		w.Set(ward, noTime, in(10*time.Second))
		time.Sleep(time.Hour)
		requireCalls(t, l, ward, start, "end", 10*time.Second)
	})
}

func TestWardEndsOnTimeWhenItsRenewalMovesNoDate(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, ward := time.Now(), l.ward()
		w.Set(ward, in(10*time.Second), in(30*time.Second))
		time.Sleep(time.Hour)
		requireCalls(t, l, ward, start, "renew", 10*time.Second, "end", 30*time.Second)
	})
}

func TestPastDatesAreDueAtOnce(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, renewed, ended := time.Now(), l.ward(), l.ward()
		w.Set(renewed, in(-time.Hour), in(time.Hour))
		w.Set(ended, in(-time.Hour), in(-time.Minute))
		synctest.Wait()
		requireCalls(t, l, renewed, start, "renew", time.Duration(0))
		requireCalls(t, l, ended, start, "end", time.Duration(0)) // what is over is not renewed
	})
}

func TestWhatFollowsAnEndComesAfterAllEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		w := New(func([]*Ward) { order = append(order, "renewal") })
		defer w.Close()
		for range 2 {
			w.Set(&Ward{Owner: ending(func() func() {
				order = append(order, "end")
				return func() { order = append(order, "after") }
			})}, noTime, in(time.Second))
		}
		w.Set(&Ward{}, in(time.Second), noTime)
		time.Sleep(2 * time.Second)
		w.Close() // joined, so that the test may look
		require.Equal(t, []string{"end", "end", "renewal", "after", "after"}, order)
	})
}

func TestEndsComeBeforeRenewals(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		for range 10 {
			w.Set(l.ward(), in(time.Second), in(time.Hour))
			w.Set(l.ward(), noTime, in(time.Second))
		}
		time.Sleep(time.Minute)
		for i, c := range l.all() {
			require.Equal(t, i < 10, c.what == "end", "call %d", i)
		}
	})
}

func TestWardsDueTogetherShareABatch(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start := time.Now()
		dates := []time.Duration{0, slack / 2, slack, slack + time.Microsecond, 3 * slack}
		var wards []*Ward
		for _, d := range dates {
			ward := l.ward()
			wards = append(wards, ward)
			w.Set(ward, in(time.Minute+d), noTime)
		}
		time.Sleep(time.Hour)
		batches := []int{1, 1, 1, 2, 3}
		called := []time.Duration{0, 0, 0, slack + time.Microsecond, 3 * slack}
		for i, ward := range wards {
			c := l.of(ward)
			require.Len(t, c, 1)
			require.Equal(t, batches[i], c[0].batch, "ward %d", i)
			require.Equal(t, time.Minute+called[i], c[0].at.Sub(start), "ward %d", i)
		}
	})
}

func TestDatesAreKeptToTheMillisecond(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, first, second := time.Now(), l.ward(), l.ward()
		w.Set(first, in(time.Second), noTime)
		w.Set(second, in(time.Second+3*time.Millisecond), noTime)
		time.Sleep(time.Minute)
		requireCalls(t, l, first, start, "renew", time.Second)
		requireCalls(t, l, second, start, "renew", time.Second+3*time.Millisecond)
	})
}

func TestScheduleFollowsDatesThatAreSetAgain(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, later, kept := time.Now(), l.ward(), l.ward()
		w.Set(later, in(10*time.Second), noTime)
		w.Set(kept, in(20*time.Second), noTime)
		w.Set(later, in(30*time.Second), noTime)
		time.Sleep(time.Minute)
		requireCalls(t, l, kept, start, "renew", 20*time.Second)
		requireCalls(t, l, later, start, "renew", 30*time.Second)
	})
}

func TestEndIsNeverEarly(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, renewed, ended := time.Now(), l.ward(), l.ward()
		w.Set(renewed, in(time.Second), noTime)
		w.Set(ended, noTime, in(time.Second+slack/2))
		time.Sleep(time.Minute)
		requireCalls(t, l, ended, start, "end", time.Second+slack/2)
	})
}

func TestSetReplacesBothDates(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, ward := time.Now(), l.ward()
		w.Set(ward, in(time.Minute), in(2*time.Minute))
		synctest.Wait()                                 // it sleeps until then
		w.Set(ward, in(time.Second), in(3*time.Second)) // earlier
		time.Sleep(2 * time.Second)
		w.Set(ward, in(time.Hour), in(2*time.Hour)) // later
		time.Sleep(90 * time.Minute)
		w.Set(ward, noTime, in(time.Hour))
		time.Sleep(24 * time.Hour)
		requireCalls(t, l, ward, start,
			"renew", time.Second,
			"renew", 2*time.Second+time.Hour,
			"end", 2*time.Second+150*time.Minute)
	})
}

func TestForgottenWardIsNotCalled(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		start, kept, forgotten := time.Now(), l.ward(), l.ward()
		w.Forget(forgotten) // it was noTime known
		w.Set(forgotten, in(time.Second), in(time.Minute))
		w.Set(kept, in(2*time.Second), noTime)
		w.Forget(forgotten)
		w.Forget(forgotten)
		time.Sleep(time.Hour)
		require.Empty(t, l.of(forgotten))
		requireCalls(t, l, kept, start, "renew", 2*time.Second)

		start = time.Now()
		w.Set(forgotten, noTime, in(time.Second)) // known again
		time.Sleep(time.Hour)
		requireCalls(t, l, forgotten, start, "end", time.Second)
	})
}

func TestCallbacksMaySetAndForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *Watchdog
		renewed, ended := 0, 0
		other := &Ward{Owner: ending(func() func() { t.Error("it was forgotten"); return nil })}
		w = New(func(due []*Ward) {
			for _, ward := range due {
				if renewed++; renewed < 1000 {
					w.Set(ward, in(10*time.Second), in(30*time.Second))
				}
			}
		})
		defer w.Close()
		start := time.Now()
		var endedAt time.Time
		ward := &Ward{Owner: ending(func() func() {
			ended++
			endedAt = time.Now()
			w.Forget(other)
			return nil
		})}
		w.Set(other, noTime, in(24*time.Hour))
		w.Set(ward, in(10*time.Second), in(30*time.Second))
		time.Sleep(48 * time.Hour)
		w.Close() // joined, so that the test may look
		require.Equal(t, 1000, renewed)
		require.Equal(t, 1, ended)
		require.Equal(t, 10_020*time.Second, endedAt.Sub(start), "after the last that was renewed")
	})
}

func TestCloseEndsAllCalls(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, w *Watchdog, l *log) {
		ward := l.ward()
		w.Set(ward, in(time.Second), in(time.Minute))
		w.Close()
		w.Close()
		w.Set(ward, in(time.Second), in(time.Minute))
		w.Set(l.ward(), in(-time.Second), noTime)
		w.Forget(ward)
		time.Sleep(time.Hour)
		require.Empty(t, l.all())
	})
}

func TestCloseWaitsForTheCallbackThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, release := make(chan struct{}), make(chan struct{})
		w := New(func([]*Ward) {
			close(running)
			<-release
		})
		w.Set(&Ward{}, in(time.Second), noTime)
		<-running
		var closed sync.WaitGroup
		var at [3]time.Time
		for i := range at {
			closed.Go(func() {
				w.Close()
				at[i] = time.Now()
			})
		}
		start := time.Now()
		time.Sleep(time.Minute)
		close(release)
		closed.Wait()
		for i := range at {
			require.Equal(t, time.Minute, at[i].Sub(start))
		}
	})
}

// Locks that are taken and given back quickly must not have the goroutine woken each time.
func TestWardsThatAreForgottenAtOnceWakeNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(func([]*Ward) {})
		defer w.Close()
		wakesAfter := func(in time.Duration) time.Duration {
			var ward Ward
			w.Set(&ward, time.Now().Add(in), time.Time{})
			w.Forget(&ward)
			synctest.Wait() // the goroutine has looked, and found nothing
			w.mu.Lock()
			defer w.mu.Unlock()
			return time.Duration(w.next) - 1
		}
		require.Equal(t, time.Minute, wakesAfter(time.Minute))
		require.Equal(t, time.Minute, wakesAfter(2*time.Minute), "soon enough for this one too")
		require.Equal(t, time.Second, wakesAfter(time.Second))
	})
}

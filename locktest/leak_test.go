package locktest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// here is the place that many lines below its caller.
func here(below int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line+below)
}

func TestLeaseThatIsNotUnlockedFailsTheTest(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		var at string
		failures := recorded(t, func(t testing.TB) {
			f := locktest.New(t)
			released, err := reentrant.New(f.Client(), "orders:41").Lock(bg)
			if err != nil || released.Unlock(bg) != nil {
				t.Errorf("it does not work")
			}
			at = here(1)
			_, _ = reentrant.New(f.Client(), "orders:42").Lock(bg)
		})
		require.Len(t, failures, 1)
		require.Contains(t, failures[0], `"orders:42" is still locked at the end of the test`)
		require.Contains(t, failures[0], "/locktest/"+at+" (")
		require.Contains(t, failures[0], "TestLeaseThatIsNotUnlockedFailsTheTest")
	})
}

func TestLeaksOfEveryKindAreFound(t *testing.T) {
	for name, take := range map[string]func(*locktest.Fake) (at string){
		"TryLock": func(f *locktest.Fake) string {
			_, _ = reentrant.New(f.Client(), "a").TryLock(bg)
			return here(-1)
		},
		"in another process": func(f *locktest.Fake) string {
			_, _ = reentrant.New(f.NewClient(), "a").TryLock(bg)
			return here(-1)
		},
		"RLock": func(f *locktest.Fake) string {
			_, _ = readwrite.New(f.Client(), "a").RLock(bg)
			return here(-1)
		},
		"Acquire": func(f *locktest.Fake) string {
			_, _ = semaphore.New(f.Client(), "a", 3).Acquire(bg, 2)
			return here(-1)
		},
		"Do, by what it runs": func(f *locktest.Fake) string {
			var at string
			_ = reentrant.New(f.Client(), "b").Do(bg, func(ctx context.Context) error {
				_, _ = reentrant.New(f.Client(), "a").Lock(ctx)
				at = here(-1)
				return nil
			})
			return at
		},
		"after a wait": func(f *locktest.Fake) string {
			theirs := f.Hold("a")
			time.AfterFunc(time.Minute, theirs.Release)
			_, _ = reentrant.New(f.Client(), "a").Lock(bg)
			return here(-1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var at string
				failures := recorded(t, func(t testing.TB) { at = take(locktest.New(t)) })
				require.True(t, contains(failures, at), failures)
			})
		})
	}
}

func TestLeaksOfSeveralLocksAreFound(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var at string
		failures := recorded(t, func(t testing.TB) {
			f := locktest.New(t)
			at = here(1)
			_, _ = multi.New(reentrant.New(f.Client(), "a"), reentrant.New(f.Client(), "b")).Lock(bg)
		})
		require.Len(t, failures, 2)
		require.Contains(t, failures[0], at)
		require.Contains(t, failures[1], at)
	})
}

func TestWhatIsOverIsNoLeak(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		require.Empty(t, recorded(t, func(t testing.TB) {
			f := locktest.New(t)
			for i := range 100 { // more than are remembered
				lease, err := reentrant.New(f.Client(), fmt.Sprint(i)).Lock(bg)
				if err != nil {
					t.Errorf("%v", err)
				}
				lease.Unlock(bg)
			}
			lost, err := reentrant.New(f.Client(), "lost").Lock(bg)
			if err != nil {
				t.Errorf("%v", err)
			}
			f.Lose(lost, lock.ReasonGone)
			f.Hold("theirs")
			closed := f.NewClient()
			_, _ = reentrant.New(closed, "closed").Lock(bg)
			_ = closed.Close()
		}))
	})
}

func TestLeaseThatIsUnlockedALittleLaterIsNoLeak(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		require.Empty(t, recorded(t, func(t testing.TB) {
			lease, err := reentrant.New(locktest.New(t).Client(), "orders:42").Lock(bg)
			if err != nil {
				t.Errorf("%v", err)
			}
			time.AfterFunc(10*time.Millisecond, func() { lease.Unlock(bg) })
		}))
	})
}

func TestLeaseThatEndsByItselfAfterTheTestIsALeak(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		require.Len(t, recorded(t, func(t testing.TB) {
			l := reentrant.New(locktest.New(t).Client(), "orders:42", lock.WithTTL(500*time.Millisecond), lock.WithoutWatchdog())
			_, _ = l.Lock(bg)
		}), 1)
	})
}

func TestHeldLeaseIsNotForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		require.Len(t, recorded(t, func(t testing.TB) {
			f := locktest.New(t)
			_, _ = reentrant.New(f.Client(), "held").Lock(bg)
			for i := range 100 { // more than are remembered
				_ = reentrant.New(f.Client(), fmt.Sprint(i)).Do(bg, func(context.Context) error { return nil })
			}
		}), 1)
	})
}

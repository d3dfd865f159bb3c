package lock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A node that is stuck holds up the list for a second, and no cancellation at all.
func TestANodeThatIsStuckHoldsUpNoListForLong(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p := w.process()
		w.lock(p.mutex())
		each(w.minority(), (*virtual.Node).Pause)
		start := time.Now()
		l := list(bg, p.locks, "")
		require.Equal(t, []string{"orders"}, l.names)
		require.Len(t, l.errs, 1)
		require.ErrorIs(t, l.errs[0], redlock.ErrSilent)
		require.ErrorContains(t, l.errs[0], w.nodes[0].Addr())
		require.Equal(t, time.Second+defaultNodeTimeout, time.Since(start), "for the scan, and for the look at the lock")

		ctx, cancel := context.WithCancelCause(bg)
		enough := errors.New("enough")
		ended := make(chan listed)
		go func() { ended <- list(ctx, p.locks, "") }()
		synctest.Wait()
		start = time.Now()
		cancel(enough)
		l = <-ended
		require.Zero(t, time.Since(start))
		require.Empty(t, l.names)
		require.Len(t, l.errs, 1)
		require.ErrorIs(t, l.errs[0], context.Canceled)
		require.ErrorIs(t, l.errs[0], enough)
		each(w.minority(), (*virtual.Node).Resume)
	})
}

func TestAListEndsWithItsContext(t *testing.T) {
	inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
		p := w.process()
		w.lock(p.mutex())
		w.lock(reentrantAt(p, "stock"))
		ctx, cancel := context.WithCancel(bg)
		defer cancel()
		var errs []error
		told := 0
		for e, err := range lock.List(ctx, p.locks, "") {
			if e.Name != "" {
				told++
			}
			if err != nil {
				errs = append(errs, err)
			}
			cancel()
		}
		require.Equal(t, 1, told)
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], context.Canceled)
	})
}

// A name may be free on the page of one node, and locked by the time that another one shows it.
func TestANameThatWasFreeIsLookedAtAgain(t *testing.T) {
	inVirtualTime(t, []int{3}, func(t *testing.T, w *world) {
		p, other := w.process(), w.process()
		w.lock(p.mutex())
		stock, err := lua.NewKeys("lock", "stock")
		require.NoError(t, err)
		w.nodes[0].Memory().HSet(stock.Lock, "somebody:1", "1") // a minority's, which holds nothing
		w.nodes[0].Memory().SetTTL(stock.Lock, time.Minute)
		var names []string
		for e, err := range lock.List(bg, p.locks, "") {
			require.NoError(t, err)
			if names = append(names, e.Name); e.Name == "orders" {
				w.lock(reentrantAt(other, "stock"))
			}
		}
		require.Equal(t, []string{"orders", "stock"}, names)
	})
}

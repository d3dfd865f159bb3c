package locktest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/reentrant"
)

func TestAssertHeldSaysWhyNot(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		asserted := func(ctx context.Context) []string {
			return recorded(t, func(t testing.TB) { locktest.AssertHeld(t, ctx, "orders:42") })
		}
		require.True(t, contains(asserted(bg), "comes from no lease"))
		require.NoError(t, reentrant.New(f.Client(), "orders:43").Do(bg, func(ctx context.Context) error {
			require.True(t, contains(asserted(ctx), `comes from a lease of "orders:43"`))
			return nil
		}))
		lease, err := reentrant.New(f.Client(), "orders:42").Lock(bg)
		require.NoError(t, err)
		ctx := lease.Context(bg)
		require.Empty(t, asserted(ctx))
		require.True(t, contains(asserted(lock.WithoutOwner(ctx)), "WithoutOwner has hidden that"))
		require.NoError(t, lease.Unlock(bg))
		require.True(t, contains(asserted(ctx), "is over: "))
	})
}

package fair_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A key of the queue may be something else's. The script must find that before it writes.
func TestCompanionOfTheWrongTypeLeavesNoLockBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c := r.client(t, calm)
	// It listens from its first wait on, and then asks with rounds.
	lease := r.hold(t)
	waiting := r.enqueue(t, here{c}, "waiter")
	require.NoError(t, lease.Unlock(bg))
	waiting.pass(t)

	for _, companion := range []string{"waiters", "queue", "void", "token"} {
		key := "lock:{payments}:" + companion
		require.NoError(t, r.eyes[0].HSet(bg, key, "a", "b").Err())
		if companion == "waiters" {
			require.NoError(t, r.eyes[0].Del(bg, key).Err())
			require.NoError(t, r.eyes[0].Set(bg, key, "x", 0).Err())
		}
		_, err := fair.New(c, "payments").Lock(bg)
		require.ErrorContains(t, err, "WRONGTYPE")
		redistest.Eventually(t, promptly, func() bool { return r.eyes[0].Exists(bg, "lock:{payments}").Val() == 0 }, "no lock is left")
		require.NoError(t, r.eyes[0].Del(bg, key).Err())
	}
}

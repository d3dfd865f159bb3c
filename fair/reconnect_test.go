package fair_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeadThatReconnectsDuringTheReleaseIsNotOvertaken(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		lease := r.hold(t, calm)
		c, proxies := r.proxied(t)
		first := r.enqueue(t, here{c}, "first")
		second := r.enqueue(t, here{r.client(t, calm)}, "second")
		for _, p := range proxies {
			p.Reset()
		}
		require.NoError(t, lease.Unlock(bg))
		first.requireGranted(t, promptly)
		r.pass(t, first, second)
		r.requireDrained(t)
	}
}

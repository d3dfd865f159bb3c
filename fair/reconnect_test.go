package fair_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestHeadThatReconnectsDuringTheReleaseIsNotOvertaken(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		// It has 0.3 seconds for that. A busy machine may need longer; then the try says
		// nothing.
		for try := 1; ; try++ {
			lease := r.hold(t, calm)
			c, proxies := r.proxied(t, calm)
			first := r.enqueue(t, here{c}, "first")
			second := r.enqueue(t, here{r.client(t, calm)}, "second")
			listened := sent(proxies, redistest.Command("SUBSCRIBE"))
			start := time.Now()
			for _, p := range proxies {
				p.Reset()
			}
			require.NoError(t, lease.Unlock(bg))
			redistest.Eventually(t, within, func() bool {
				return sent(proxies, redistest.Command("SUBSCRIBE")) >= listened+n
			}, "it listens again")
			if took := time.Since(start); took > 200*time.Millisecond && try < 10 {
				t.Logf("%d nodes: it took %v to listen again", n, took)
				first.visit.Leave()
				second.visit.Leave()
				r.serve(t, first, second)
				continue
			}
			r.pass(t, first, second)
			break
		}
		r.requireDrained(t)
	}
}

package fair_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// beat is shorter than a connection may be silent: what comes next is the work of
// heartbeats alone.
const beat = 600 * time.Millisecond

var quick = lock.WithWaiterHeartbeat(beat)

func TestHeadThatFallsSilentDelaysTheNextByNoMoreThanItsHeartbeat(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		holder := b.mutex(t)
		worst := time.Duration(0)
		for phase := range 10 { // of both hearts at the moment of death
			lease := held(t, holder)
			dead, mutex := b.host(t, quick)
			enqueue(mutex)
			time.Sleep(time.Duration(phase%5) * beat / 13)
			next := enqueue(b.mutex(t, quick))
			time.Sleep(beat + time.Duration(phase)*beat/30)
			dead.Silence(true)
			died := time.Now()
			require.NoError(t, lease.Unlock(bg))
			worst = max(worst, next.granted(t, died))
			require.NoError(t, next.lease.Unlock(bg))
			dead.Kill()
		}
		t.Logf("at the worst %v after its death", worst)
		require.LessOrEqual(t, worst, beat)
		require.Greater(t, worst, beat/2, "the nodes could not tell")
	})
}

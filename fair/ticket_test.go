package fair_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What a node without the queue proposes is no place: a ticket must be greater than all
// that a quorum has.
func TestTicketThatOnlyAForgetfulNodeProposedPassesNobody(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 5} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, t, n)
			lease := held(t, b.mutex(t))
			late := b.mutex(t)
			warm := enqueue(late) // it has its connections
			first := enqueue(b.mutex(t))
			second := enqueue(b.mutex(t))
			b.nodes[0].Flush()
			for _, n := range b.nodes[1:] {
				n.Silence(true)
			}
			// Only the forgetful one hears of them. It grants the lock to the first of them,
			// which has to give it back, and has the other wait as number one.
			third, fourth := enqueue(late), enqueue(late)
			time.Sleep(100 * time.Millisecond)
			for _, n := range b.nodes[1:] {
				n.Silence(false)
			}
			time.Sleep(beatDefault)
			_ = lease.Unlock(bg)       // its connections are dead, so it takes a second try
			var serving sync.WaitGroup // in whatever order
			for _, w := range []*wait{warm, first, second, third, fourth} {
				serving.Go(func() {
					<-w.done
					_ = w.lease.Unlock(bg)
				})
			}
			serving.Wait()
			for _, w := range []*wait{third, fourth} {
				requireServed(t, warm, first, second, w)
			}
		})
	}
}

// requireServed requires that waits ended in this order.
func requireServed(t *testing.T, waits ...*wait) {
	t.Helper()
	for i, w := range waits[1:] {
		require.Less(t, waits[i].lease.Token(), w.lease.Token(), "the %dth was served before the one in front of it", i+2)
	}
}

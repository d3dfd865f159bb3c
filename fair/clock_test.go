package fair_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// A client's clock may be hours off, since nodes are never told what it shows: no number
// that goes to a node is a date.
func TestClientsTellNodesNoDates(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		var known []string // fencing tokens, which come from the nodes
		lease := held(t, b.mutex(t, lock.WithTTL(beatDefault)))
		known = append(known, strconv.FormatInt(lease.Token(), 10))
		host, mutex := b.host(t)
		first, second := enqueue(mutex), enqueue(b.mutex(t))
		ctx, cancel := context.WithCancel(bg)
		left := make(chan error)
		go func() {
			_, err := mutex.Lock(ctx)
			left <- err
		}()
		time.Sleep(2 * beatDefault)
		cancel()
		require.ErrorIs(t, <-left, context.Canceled)
		b.nodes[0].Memory().Del(b.keys.Queue()) // it is told the tickets again
		b.nodes[0].Memory().Del(b.keys.Waiters())
		time.Sleep(2 * beatDefault)
		require.NoError(t, lease.Unlock(bg))
		for _, w := range []*wait{first, second} {
			w.granted(t, w.began)
			known = append(known, strconv.FormatInt(w.lease.Token(), 10))
			require.NoError(t, w.lease.Unlock(bg))
		}
		synctest.Wait()
		host.Kill()
		seen := 0
		for _, n := range b.nodes {
			for _, c := range n.Commands(virtual.Name("EVALSHA")) {
				for _, arg := range c.Args[2:] {
					number, err := strconv.ParseInt(arg, 10, 64)
					if err != nil || slices.Contains(known, arg) {
						continue
					}
					seen++
					// A date in seconds is at least that, and no span of time here is.
					require.Less(t, number, time.Now().Unix()/2, "%v", c.Args[2:])
				}
			}
		}
		require.Greater(t, seen, 100)
	})
}

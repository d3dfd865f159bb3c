package reentrant_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// An even number of nodes can be split into halves. Neither rival may take the other
// for the holder, and sleep until it is woken: nobody would wake it (trap 32).
func TestRivalsWithHalfOfTheNodesEachDoNotTakeEachOtherForTheHolder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 4} {
		servers := redistest.StartN(t, n)
		var rivals []*lock.Client
		for k := range 2 {
			nodes := make([]redis.UniversalClient, n)
			for i, s := range servers {
				p := redistest.NewProxy(t, s.Addr())
				if (i < n/2) == (k == 0) {
					p.SetDelay(20 * time.Millisecond)
				}
				nodes[i] = p.Client(t)
			}
			rivals = append(rivals, newClient(t, nodes))
		}
		for range 3 {
			start := time.Now()
			var first atomic.Int64
			var both sync.WaitGroup
			for _, c := range rivals {
				both.Go(func() {
					l, err := reentrant.New(c, "orders").Lock(bg)
					if err != nil {
						t.Error(err)
						return
					}
					first.CompareAndSwap(0, int64(time.Since(start)))
					if err := l.Unlock(bg); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			took := time.Duration(first.Load())
			t.Logf("%d nodes: granted after %v", n, took)
			require.Less(t, took, 1500*time.Millisecond, "a poll takes two seconds and more")
		}
	}
}

// Many schedulers come at the same moment: one of them is to do the work, and only the
// others may be told that it is being done.
func TestOneOfThoseThatTryAtTheSameMomentGetsAFreeLock(t *testing.T) {
	t.Parallel()
	const rivals, rounds = 5, 60
	for _, n := range []int{2, 3, 5} {
		servers := redistest.StartN(t, n)
		var clients []*lock.Client
		for range rivals {
			clients = append(clients, newClient(t, redistest.Clients(t, servers)))
		}
		for round := range rounds {
			var won, locked atomic.Int64
			var all sync.WaitGroup
			start := make(chan struct{})
			for _, c := range clients {
				all.Go(func() {
					<-start
					_, err := reentrant.New(c, fmt.Sprint("job ", round)).TryLock(bg)
					switch {
					case err == nil:
						won.Add(1)
					case errors.Is(err, lock.ErrLocked):
						locked.Add(1)
					}
				})
			}
			close(start)
			all.Wait()
			require.EqualValues(t, 1, won.Load(), "%d nodes, round %d", n, round)
			require.EqualValues(t, rivals-1, locked.Load())
		}
	}
}

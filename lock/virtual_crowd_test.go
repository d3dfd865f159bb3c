package lock_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/reentrant"
)

// Who has to wait for others of the same process until its command is sent has not met a
// silent node.
func TestCrowdThatWaitsForItselfIsNotRefused(t *testing.T) {
	inVirtualTime(t, []int{1}, func(t *testing.T, w *world) {
		const crowd = 2100 // three flights, the last of which leaves after a node timeout and a half
		p := w.process()
		each(w.nodes, func(n *virtual.Node) { n.SetDelay(75*time.Millisecond, 75*time.Millisecond) })
		errs := make(chan error, crowd)
		var callers sync.WaitGroup
		for i := range crowd {
			callers.Go(func() {
				_, err := reentrant.New(p.locks, fmt.Sprint("name ", i)).TryLock(bg)
				errs <- err
			})
		}
		callers.Wait()
		for range crowd {
			require.NoError(t, <-errs)
		}
	})
}

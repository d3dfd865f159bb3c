package lock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

// What a minority says of a holder is nothing to go by: with a quorum down nobody can tell
// whether the lock is held, and waiting for its holder would be no use.
func TestHeldLockOfWhichAQuorumIsDownIsNoQuorum(t *testing.T) {
	for name, fault := range faults {
		for kind, locker := range map[string]func(*process) lock.Locker{
			"reentrant": func(p *process) lock.Locker { return p.mutex() },
			"fair":      func(p *process) lock.Locker { return p.queue() },
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				inVirtualTime(t, []int{3, 5}, func(t *testing.T, w *world) {
					w.lock(locker(w.process()))
					m := locker(w.process())
					each(w.quorum(), fault)
					start := time.Now()
					l, err := m.TryLock(bg)
					require.Nil(t, l)
					require.ErrorIs(t, err, redlock.ErrNoQuorum)
					require.NotErrorIs(t, err, lock.ErrLocked)
					require.LessOrEqual(t, time.Since(start), defaultNodeTimeout)
				})
			})
		}
	}
}

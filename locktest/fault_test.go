package locktest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/locktest"
	"github.com/holdfast-go/holdfast/reentrant"
)

// brief is a node timeout for tests that wait for some. What must succeed is tried again.
var brief = lock.WithNodeTimeout(50 * time.Millisecond)

func TestPartitionOfAQuorumIsNoQuorum(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.NewN(t, 3, brief)
		l := reentrant.New(f.Client(), "orders:42")
		f.Partition(0)
		until(t, func() bool { return l.Do(bg, func(context.Context) error { return nil }) == nil }, "two of three are enough")
		f.Partition(1)
		_, err := l.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		require.NotErrorIs(t, err, lock.ErrLocked)
		f.Hold("orders:42").Release() // others reach them
		f.Heal()
		until(t, func() bool {
			lease, err := l.TryLock(bg)
			return err == nil && lease.Unlock(bg) == nil
		}, "the nodes are reached again")
	})
}

func TestLockGoesToSomebodyElseDuringAPartition(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := locktest.NewN(t, 3)
		lease, err := reentrant.New(f.Client(), "orders:42").Lock(bg)
		require.NoError(t, err)
		ctx := lease.Context(bg)
		f.Partition()
		f.Advance(29 * time.Second)
		require.NoError(t, ctx.Err())
		f.Advance(time.Second)
		requireLost(ctx, t, lease, lock.ReasonNotRenewed)
		f.Advance(time.Second)
		f.Hold("orders:42").Release()
	})
}

func TestStoppedNodesForgetEverything(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.New(t)
		l := reentrant.New(f.Client(), "orders:42")
		lease, err := l.Lock(bg)
		require.NoError(t, err)
		f.Stop(0)
		f.Stop(0)
		_, err = reentrant.New(f.Client(), "orders:43").TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
		f.Start(0)
		f.Start(0)
		var theirs *locktest.Hold
		until(t, func() bool { return f.Redis()[0].Ping(bg).Err() == nil }, "it is back")
		theirs = f.Hold("orders:42")
		require.ErrorIs(t, lease.Unlock(bg), lock.ErrLost)
		theirs.Release()
	})
}

func TestMinorityOfNodesCanStop(t *testing.T) {
	inBoth(t, func(t *testing.T) {
		f := locktest.NewN(t, 3)
		l := reentrant.New(f.Client(), "orders:42")
		lease, err := l.Lock(bg)
		require.NoError(t, err)
		f.Stop(2)
		require.NoError(t, lease.Extend(bg, time.Minute))
		require.NoError(t, lease.Unlock(bg))
		f.Stop(1)
		_, err = l.TryLock(bg)
		require.ErrorIs(t, err, lock.ErrNoQuorum)
	})
}

func TestNodesThatAreNotThereAreRefused(t *testing.T) {
	for message, do := range map[string]func(*locktest.Fake){
		"Stop(1): there are 1 nodes":      func(f *locktest.Fake) { f.Stop(1) },
		"Start(-1): there are 1 nodes":    func(f *locktest.Fake) { f.Start(-1) },
		"Partition(2): there are 1 nodes": func(f *locktest.Fake) { f.Partition(0, 2) },
	} {
		failures := recorded(t, func(t testing.TB) { do(locktest.New(t)) })
		require.True(t, contains(failures, message), failures)
	}
}

// go-redis would otherwise use connections of the life before, one for each call that fails.
func TestANodeThatHasStartedAgainAnswersTheNextCall(t *testing.T) {
	for range 20 {
		inBubble(t, func(t *testing.T) {
			f := locktest.New(t)
			l := reentrant.New(f.Client(), "orders:42")
			require.NoError(t, l.Do(bg, func(context.Context) error { return nil }))
			f.Stop(0)
			_, err := l.TryLock(bg)
			require.ErrorIs(t, err, lock.ErrNoQuorum)
			f.Start(0)
			lease, err := l.TryLock(bg)
			require.NoError(t, err)
			require.NoError(t, lease.Unlock(bg))
		})
	}
}

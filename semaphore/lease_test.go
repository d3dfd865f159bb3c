package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/semaphore"
)

const short = time.Second // a TTL that a test waits for

// A process that dies keeps its permits for a TTL, and no longer, whoever else renews his.
func TestPermitsOfADeadProcessAreFreeAfterTheirTTL(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		living := semaphore.New(r.client(t), r.name, 2, calm, lock.WithTTL(6*short))
		alive := take(t, living, 1)
		died := time.Now()
		r.takeAndDie(t, "dead:1"+lua.PermitMark(1, 2), 4*short)
		next := take(t, living, 1)
		require.GreaterOrEqual(t, time.Since(died), 4*short, "no sooner")
		require.Less(t, time.Since(died), 4*short+promptly)
		require.Greater(t, alive.Deadline(), died.Add(6*short), "which is renewed")
		require.Equal(t, []int{1}, next.Slots())
		require.NoError(t, alive.Err())
		release(t, alive, next)
		r.requireNoKeys(t)
	})
}

// takeAndDie takes permits on every node, for a process that is gone then.
func (r *rig) takeAndDie(t *testing.T, hold string, ttl time.Duration) {
	t.Helper()
	keys, err := lua.NewKeys("lock", r.name)
	require.NoError(t, err)
	for _, c := range r.connect(t) {
		call := lua.PermitAcquire{
			Permit: lua.Permit{Fair: lua.Fair{Keys: keys, Channel: lua.ClientChannels("lock")}},
			Hold:   hold, TTL: ttl, Retention: time.Hour,
		}
		reply, err := call.Call().Run(bg, c)
		require.NoError(t, err)
		granted, err := lua.ParsePermitAcquired(reply)
		require.NoError(t, err)
		require.Positive(t, granted.Token)
	}
}

func TestAPermitIsRenewedAndExtended(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := r.semaphore(t, 2, lock.WithTTL(6*short))
		p := take(t, s, 2)
		deadline := p.Deadline()
		redistest.Eventually(t, within, func() bool { return p.Deadline().After(deadline) || p.Err() != nil }, "it is renewed")
		require.NoError(t, p.Err())
		require.NoError(t, p.Extend(bg, time.Minute))
		require.Greater(t, time.Until(p.Deadline()), 50*time.Second)
		state, err := s.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, state.Slots, 2)
		for i, slot := range state.Slots {
			require.Equal(t, i, slot.Number)
			require.Equal(t, p.ID(), slot.Holder)
			require.Greater(t, slot.TTL, 50*time.Second)
		}
		release(t, p)
	})
}

func TestMaxHoldEndsAPermit(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	s := r.semaphore(t, 1, lock.WithTTL(short), lock.WithMaxHold(short/2))
	p := take(t, s, 1)
	<-p.Done()
	require.ErrorIs(t, p.Err(), lock.ErrLost)
	release(t, take(t, s, 1))
}

func TestTokensGrow(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s, other := r.semaphore(t, 3), r.semaphore(t, 3)
		var last int64
		for range 5 {
			p, q := take(t, s, 1), take(t, other, 2)
			require.Greater(t, p.Token(), last)
			require.Greater(t, q.Token(), p.Token())
			last = q.Token()
			release(t, p, q)
		}
	})
}

func TestInspectTellsSlotsInTheirOrder(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := r.semaphore(t, 8)
		var all []*semaphore.Permit
		for range 8 {
			all = append(all, take(t, s, 1))
		}
		state, err := s.Inspect(bg)
		require.NoError(t, err)
		require.Len(t, state.Slots, 8)
		for i, slot := range state.Slots {
			require.Equal(t, i, slot.Number)
		}
		for _, n := range state.Nodes {
			for i, slot := range n.Slots {
				require.True(t, i == 0 || n.Slots[i-1].Number < slot.Number)
			}
		}
		release(t, all...)
	})
}

func TestInspect(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		c := r.client(t, lock.WithLabel("web-3"))
		s := semaphore.New(c, r.name, 3, calm, lock.WithNote("nightly export"))
		state, err := s.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, 3, state.Permits)
		require.Zero(t, state.InUse)
		two := take(t, s, 2)
		waits := acquire(bg, r.semaphore(t, 3), 3)
		requireWaiting(t, s, 1)
		redistest.Eventually(t, within, func() bool {
			state, err = s.Inspect(bg)
			return err == nil && len(state.Slots) == 2 && state.Slots[0].Label == "web-3"
		}, "the label is there")
		for i, slot := range state.Slots {
			require.Equal(t, i, slot.Number)
			require.Equal(t, two.ID(), slot.Holder)
			require.Equal(t, "nightly export", slot.Note)
			require.Equal(t, two.Token(), slot.Token)
			require.Positive(t, slot.TTL)
			require.Positive(t, slot.HeldFor)
		}
		require.Equal(t, 2, state.InUse)
		require.Equal(t, 3, state.Queue[0].Permits)
		require.Equal(t, two.Token(), state.Token)
		for _, n := range state.Nodes {
			require.True(t, n.Reachable)
			require.NotEmpty(t, n.Address)
			require.Len(t, n.Slots, 2)
			require.Empty(t, n.Other)
		}
		release(t, two)
		release(t, requireGranted(t, waits))
	})
}

func TestPermitsAreEndedByForce(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s, operator := r.semaphore(t, 2), r.semaphore(t, 2)
		p, q := take(t, s, 1), take(t, s, 1)
		waits := acquire(bg, r.semaphore(t, 2), 1)
		requireWaiting(t, s, 1)
		ended, err := operator.ForceUnlockHold(bg, p.ID())
		require.NoError(t, err)
		require.True(t, ended)
		next := requireGranted(t, waits)
		require.Equal(t, p.Slots(), next.Slots())
		require.ErrorIs(t, p.Release(bg), lock.ErrLost)
		require.NoError(t, q.Err())
		ended, err = operator.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, ended)
		require.ErrorIs(t, q.Release(bg), lock.ErrLost)
		require.ErrorIs(t, next.Release(bg), lock.ErrLost)
		r.requireNoKeys(t)
	})
}

// Operators see of slots that stay taken who had them.
func TestSlotsThatStayTakenHaveTheirLabel(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := semaphore.New(r.client(t, lock.WithLabel("web-3")), r.name, 2, calm, lock.WithNote("nightly export"), lock.WithMinHold(time.Hour))
		p := take(t, s, 2)
		labelled := func() bool {
			state, err := s.Inspect(bg)
			return err == nil && len(state.Slots) == 2 && state.Slots[1].Label == "web-3" && state.Slots[1].Note == "nightly export"
		}
		redistest.Eventually(t, within, labelled, "the label is there")
		release(t, p)
		redistest.Eventually(t, within, labelled, "it is still there")
		state, err := s.Inspect(bg)
		require.NoError(t, err)
		require.Equal(t, p.ID()+lua.Lingers, state.Slots[0].Holder)
		ended, err := s.ForceUnlock(bg)
		require.NoError(t, err)
		require.True(t, ended)
		r.requireNoKeys(t)
	})
}

// WithMinHold limits a rate: the slot stays taken when its holder has gone.
func TestASlotStaysTakenForItsMinimumHold(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rig) {
		s := r.semaphore(t, 1, lock.WithMinHold(short))
		began := time.Now()
		release(t, take(t, s, 1))
		p := take(t, s, 1)
		require.GreaterOrEqual(t, time.Since(began), short-50*time.Millisecond)
		require.NoError(t, p.Err())
	})
}

package conformance

import (
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// At no instant do two owners have valid leases (I1).
var contention = rules{
	"GoroutinesWithOneHandleExcludeEachOther": func(t *stage) {
		l := t.locker()
		t.compete(10, l, l, l, l, l, l, l, l)
	},

	"ProcessesExcludeEachOther": func(t *stage) {
		t.compete(6, t.locker(), t.locker(), t.locker(), t.locker())
	},

	"CrowdsInSeveralProcessesAllGetTheirTurn": func(t *stage) {
		a, b := t.client(), t.client()
		var crowd []Mutex
		for range 10 {
			crowd = append(crowd, t.on(a), t.on(b))
		}
		t.compete(2, crowd...)
	},

	"TryingIsExclusiveToo": func(t *stage) {
		lockers := []Mutex{t.locker(), t.locker(), t.locker()}
		var inside, won atomic.Int64
		t.parallel(len(lockers), func(i int) (*lock.Lease, error) {
			for range 12 {
				lease, err := lockers[i].TryLock(bg)
				if err != nil {
					continue // three may split the votes of five so that none wins
				}
				if inside.Add(1) != 1 {
					t.Error("two are inside")
				}
				won.Add(1)
				inside.Add(-1)
				if err := lease.Unlock(bg); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		if won.Load() == 0 {
			t.requireFree(lockers[0])
		}
	},
}

// compete has each of lockers lock and unlock so many times, all at once, and checks
// that there is one holder at a time, with growing tokens (I3).
func (t *stage) compete(rounds int, lockers ...Mutex) {
	t.Helper()
	var inside, total, newest atomic.Int64
	t.parallel(len(lockers), func(i int) (*lock.Lease, error) {
		for range rounds {
			lease, err := lockers[i].Lock(bg)
			if err != nil {
				return nil, err
			}
			// Of those who leave room for each other, as many as come are inside, but nobody else.
			n := int64(1)
			if t.leavesRoom(lockers[i]) {
				n = 1 << 32
			}
			if now := inside.Add(n); now != n && now%(1<<32) != 0 {
				t.Error("two are inside")
			}
			if before := newest.Swap(lease.Token()); before > lease.Token() || before == lease.Token() && n == 1 {
				t.Errorf("token %d after %d", lease.Token(), before)
			}
			total.Add(1)
			inside.Add(-n)
			if err := lease.Unlock(bg); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	require.EqualValues(t, rounds*len(lockers), total.Load())
}

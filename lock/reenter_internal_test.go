package lock

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/redlock"
)

// A mutex is the kind of a lock that one holder has at a time.
type mutex struct{ kind.Kind }

func (mutex) Family() kind.Family { return kind.Mutex }

// A hold whose last lease is being unlocked has no date on the schedule, if that was set meanwhile. A call of the same
// owner that comes in before the release gives it one again.
func TestALeaseThatReentersAHoldWithoutLeasesEndsInTime(t *testing.T) {
	withTime(t, unordered, func(t *testing.T, ct *contest) {
		ct.client.group = new(redlock.Group)
		e := &engine{client: ct.client, kind: mutex{}, set: settings{ttl: 10 * time.Second}}
		now := time.Now()
		tenure := &tenure{engine: e, id: "own:1", contest: ct, since: now, ttl: 30 * time.Second, validity: now.Add(30 * time.Second)}
		tenure.ward.Owner = tenure
		h := &tenure.first
		h.tenure, h.by = tenure, e
		tenure.begin(h)
		tenure.schedule()
		l, _, err := e.reenter(context.Background(), h)
		require.NoError(t, err)
		require.Equal(t, now.Add(10*time.Second), l.Deadline())
		require.Equal(t, l.Deadline(), tenure.dates.endAt)
	})
}

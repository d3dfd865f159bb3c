package lock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/watchdog"
)

// A scribe is a kind that keeps what it was last asked to ask.
type scribe struct {
	kind.Joinable
	request  kind.Request
	quiet    bool
	mark     time.Duration
	restores lua.Restore
}

func (s *scribe) Release(r kind.Request, quiet bool, mark time.Duration) lua.Call {
	s.request, s.quiet, s.mark = r, quiet, mark
	return lua.Call{}
}

func (s *scribe) Restore(_ kind.Request, r lua.Restore, _ bool) lua.Call {
	s.restores = r
	return lua.Call{}
}

// written is a tenure on a node that is never asked anything, and what would be written about it.
func written(t *testing.T, id string) (*tenure, *scribe) {
	t.Helper()
	node := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	t.Cleanup(func() { _ = node.Close() })
	g, err := redlock.New([]redis.UniversalClient{node}, redlock.Config{NodeTimeout: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	s := new(scribe)
	c := newCore()
	c.group = g
	return &tenure{engine: &engine{client: c, kind: s, set: settings{ttl: time.Second}}, id: id, footprint: g.NewFootprint(), ttl: time.Second, made: time.Now()}, s
}

// A node vouches for a hold only if it has run for longer than the hold, and for longer than an answer of before takes
// to be of no account. A command that comes late may write the hold where it was removed.
func TestWhatIsAskedToRestoreAHold(t *testing.T) {
	const age = 10 * time.Minute
	held, asks := written(t, "own:1")
	held.engine.shared, held.round, held.since = asks, 3, time.Now().Add(-age)
	m := held.restoration(time.Second)
	require.True(t, m.Creates, "it is removed from wherever it may come to be")
	require.Equal(t, held.footprint, m.Footprint)
	require.Equal(t, int64(3), asks.restores.Round, "a late yield of that round leaves it alone")
	require.GreaterOrEqual(t, asks.restores.Uptime, age+held.engine.client.group.NodeTimeout())
	require.Less(t, asks.restores.Uptime, age+time.Minute)
	held.engine.client.guard = time.Hour
	held.restoration(time.Second)
	require.Equal(t, time.Hour, asks.restores.Uptime)
}

// A release that is made again is for nobody who asks right after it: that one has been refused, and is to be told.
func TestAReleaseThatIsMadeAgainTellsTheNextOne(t *testing.T) {
	held, asks := written(t, "own:1")
	held.validity, held.reserve.last = time.Now(), 7
	release := held.removal("own:2", true)
	release(false, false)
	require.Equal(t, "own:2", asks.request.Successor)
	require.True(t, asks.quiet)
	require.False(t, asks.request.Again)
	require.Zero(t, asks.mark)
	require.Equal(t, int64(7), asks.request.Token, "whoever reads next has it")
	release(true, true)
	require.False(t, asks.quiet)
	require.True(t, asks.request.Again)
	require.Equal(t, markLife, asks.mark)

	held.validity = time.Time{}
	release(false, false)
	require.True(t, asks.request.Undo, "there was no lease")
	require.Zero(t, asks.request.Token, "and no token")
}

// What is removed is sent until no node can have it any more: for as long as one was ever asked to keep it, and the same
// for those that leave with it.
func TestARemovalIsSentForAsLongAsANodeMayHaveTheKey(t *testing.T) {
	held, _ := written(t, "own:1")
	outlives := func(d time.Duration) {
		require.WithinDuration(t, time.Now().Add(d+lastCall), held.outlives(), time.Second)
	}
	outlives(held.ttl)
	held.longest = time.Hour
	outlives(held.longest)
	held.longest = 0

	served := &tenure{engine: held.engine, id: "own:2", footprint: held.engine.client.group.NewFootprint(), longest: 2 * time.Hour}
	held.running().leaving = []*tenure{served}
	until, _, _ := held.takeAlong()
	require.Equal(t, []string{"own:2"}, held.run.along)
	require.WithinDuration(t, time.Now().Add(served.longest+lastCall), until, time.Second)
}

// The others' chance is longer by the time that a message to them and their request take.
func TestTheOthersChanceIsLongerByTheWayToTheNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip = 7 * time.Millisecond
		ct := newCore().contest(contestKey{lock: "lock:{orders}"})
		asked := time.Now()
		time.Sleep(trip)
		ct.learn(true, nil, asked)
		require.True(t, ct.elsewhere.waits)
		require.Equal(t, min(deafChance+2*trip, maxChance), ct.othersChance())
		require.Greater(t, maxChance, deafChance+2*trip)
	})
}

// As soon as others know of a tenure, they join it, and schedule its end and its renewals, before its maker goes on.
func TestATenureIsWatchedByItselfFromTheBeginning(t *testing.T) {
	before, _ := written(t, "own:1")
	dog := watchdog.New(func([]*watchdog.Ward) {})
	t.Cleanup(dog.Close)
	before.engine.client.watchdog = dog
	made := before.engine.newTenure(new(slot))
	require.Same(t, made, made.ward.Owner)
	start := time.Now()
	made.first.lease(made.engine, start, start.Add(time.Hour))
	made.begin(&made.first)
	made.ttl = time.Hour
	made.renewNow() // a node is back
	require.Zero(t, made.dates, "nobody knows yet from when on it is valid")
	made.watch(start)
	made.mu.Lock()
	defer made.mu.Unlock()
	require.WithinRange(t, made.dates.renewAt, start, time.Now().Add(time.Minute), "and so it is renewed early")
}

// A renewal may be confirmed when the deadline of a lease has passed and nobody has noticed yet, as the process was paused:
// by then, another may have the lock.
func TestARenewalRevivesNoLease(t *testing.T) {
	asked, _ := written(t, "own:1")
	asked.engine.set.renew = true
	held := asked.engine.newTenure(new(slot))
	now := time.Now()
	l := held.first.lease(held.engine, now.Add(-time.Minute), now)
	held.begin(&held.first)
	held.prolong(now.Add(time.Minute), now)
	require.Equal(t, now, l.Deadline())
	held.prolong(now.Add(time.Minute), now.Add(-1))
	require.Equal(t, now.Add(time.Minute), l.Deadline(), "in time")
}

// The mark of a removal lives the longer the older the claim is, but for no longer than a network takes to deliver anything.
func TestAMarkHasABound(t *testing.T) {
	held, _ := written(t, "own:1")
	require.Zero(t, held.voids(false))
	require.Equal(t, markLife, held.voids(true))
	held.made = time.Now().Add(-time.Minute)
	require.GreaterOrEqual(t, held.voids(true), time.Minute+resend)
	held.made = time.Now().Add(-time.Hour)
	require.Equal(t, longestMark, held.voids(true))
}

// Who waits under a new id has no place on the nodes until it has asked, so those who read and come meanwhile do not follow it:
// they might go past one who writes.
func TestNobodyFollowsOneThatIsRenamed(t *testing.T) {
	void, _ := written(t, "own:1")
	c := void.engine.client
	ct := c.contest(contestKey{"lock:{orders}", shared})
	p := comes(t.Context(), ct, void.engine)
	p.id = void.id
	c.queuers[void.id] = p
	q := &queuer{call: p.call, place: p, tenure: void}
	require.True(t, q.rename())
	require.True(t, p.closed)
	require.NotEqual(t, void, q.tenure)
	require.Equal(t, map[string]*place{q.tenure.id: p}, c.queuers)
	require.Equal(t, q.tenure.id, p.id)

	p.lease = new(Lease) // it has had its turn meanwhile
	require.False(t, q.rename())
	require.Equal(t, q.tenure.id, p.id)
}

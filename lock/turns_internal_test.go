package lock

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/waiter"
	"github.com/holdfast-go/holdfast/watchdog"
)

// Reserve implements [kind.Joinable].
func (w way) Reserve(kind.Request, int64) lua.Call { return lua.Call{} }

// A permit is the kind of a semaphore.
type permit struct {
	kind.Numbered
	mark string
}

func (p permit) Mark() string { return p.mark }
func (p permit) Reads() bool  { return true }

// withTime runs f in virtual time, with a contest of a client that has a schedule.
func withTime(t *testing.T, order order, f func(t *testing.T, ct *contest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCore()
		c.watchdog = watchdog.New(func([]*watchdog.Ward) {})
		defer c.watchdog.Close()
		f(t, c.contest(contestKey{"lock:{orders}", order}))
	})
}

// comes has an owner of its own wait in ct, until ctx ends.
func comes(ctx context.Context, ct *contest, e *engine) *place {
	p := awaiting(ctx, ct)
	p.call.engine = e
	p.call.slot = new(owner).slot(ct.client, ct.key.lock)
	return p
}

// passedOver has some wait in ct who need no turn, as they ask the nodes, give up, or re-enter; and then one who does.
func passedOver(ct *contest, e *engine) (next *place, others []*place) {
	bg := context.Background()
	over, end := context.WithCancel(bg)
	end()
	asks, leaves, enters := comes(bg, ct, e), comes(over, ct, e), comes(bg, ct, e)
	asks.attempts = true
	enters.call.slot.set(new(hold))
	return comes(bg, ct, e), []*place{asks, leaves, enters}
}

func TestWhoNeedsNoTurnIsPassedNothing(t *testing.T) {
	t.Run("of a mutex", func(t *testing.T) {
		ct := newCore().contest(contestKey{lock: "lock:{orders}"})
		next, _ := passedOver(ct, &engine{client: ct.client})
		require.Equal(t, next, ct.nextContender())
	})
	t.Run("of a semaphore", func(t *testing.T) {
		ct := newCore().contest(contestKey{"lock:{orders}", slotted})
		e := &engine{client: ct.client, order: slotted, shared: permit{mark: "x"}, permits: 2, wants: 1}
		next, others := passedOver(ct, e)
		held := &tenure{engine: e, contest: ct}
		ct.relay.slots = 1
		require.Equal(t, next, ct.nextQueuer(held), "the first one asks for a permit that may be free")
		next.attempts = true
		require.Equal(t, next, ct.nextQueuer(held), "it asks, too, but no more than one is free")
		others[0].attempts, others[0].granted = false, true
		require.Equal(t, next, ct.nextQueuer(held), "which another one has by now")
		others[0].attempts, others[0].granted, next.attempts = true, false, false
		ct.relay.slots = 2
		require.Equal(t, others[0], ct.nextQueuer(held), "there is none for the first one, who asks")
		others[0].granted = true
		require.Equal(t, next, ct.nextQueuer(held), "it has been granted one all the same")
		big := comes(context.Background(), ct, &engine{client: ct.client, order: slotted, shared: permit{mark: "y"}})
		ct.queue = append([]*place{big}, ct.queue...)
		require.Nil(t, ct.nextQueuer(held), "no small request overtakes a big one")
	})
	t.Run("of a fair lock", func(t *testing.T) {
		ct := newCore().contest(contestKey{"lock:{orders}", queued})
		next, others := passedOver(ct, &engine{client: ct.client, order: queued})
		asks, leaves, enters := others[0], others[1], others[2]
		for _, p := range ct.queue {
			p.ticket = 7
		}
		held := &tenure{contest: ct}
		held.running().next = []*place{leaves, enters, next}
		require.Equal(t, next, held.nextInRun())
		held.running().next = []*place{asks, next}
		require.Nil(t, held.nextInRun(), "if one cannot be served now, nobody behind it is")
		asks.attempts = false
		require.Equal(t, asks, held.nextInRun())
	})
	t.Run("of those who write", func(t *testing.T) {
		ct := sharing()
		writer := ct.engineTo(false)
		next, others := passedOver(ct, writer)
		held := ct.tenureTo("own:1", false)
		require.Nil(t, ct.next(held), "the first one hears the nodes' answer first")
		others[0].attempts = false
		require.Equal(t, others[0], ct.next(held))
		ct.drop(others[0])
		require.Equal(t, next, ct.next(held))
		held.serving.closed = true
		require.Nil(t, ct.next(held), "it has a place on the nodes, and others wait there")
	})
}

// A grant to read is for those who follow, unless they give up, re-enter, or would have it for no time.
func TestWhoFollowsReadsWithinTheGrantOfItsLeader(t *testing.T) {
	withTime(t, shared, func(t *testing.T, ct *contest) {
		bg := context.Background()
		over, end := context.WithCancel(bg)
		end()
		reading := ct.engineTo(true)
		leader, reads, leaves, enters, same := comes(bg, ct, reading), comes(bg, ct, reading), comes(over, ct, reading), comes(bg, ct, reading), comes(bg, ct, reading)
		other := comes(bg, ct, reading)
		enters.call.slot.set(new(hold))
		same.call.slot = leader.call.slot
		for _, f := range []*place{reads, leaves, enters, same} {
			f.follow(leader)
		}
		granted := ct.tenureTo("own:1", true)
		granted.reserve.last = 41
		ct.drop(leader)
		ct.bring(granted, leader)
		require.NotNil(t, reads.lease)
		require.Equal(t, int64(41), reads.lease.Token())
		require.True(t, woken(reads))
		require.Equal(t, reads.lease.hold, reads.call.slot.held())
		require.Equal(t, []*place{leaves, enters, same, other}, ct.queue)
		for _, p := range ct.queue {
			require.Nil(t, p.lease)
		}

		late := comes(bg, ct, reading)
		late.follow(leader)
		time.Sleep(time.Until(granted.validity))
		ct.bring(granted, leader)
		require.Nil(t, late.lease, "it is over")
	})
}

// Who comes reads at once if others of its process do, and nobody waits to write as far as they have heard of late.
func TestWhoJoinsIsInNobodysWay(t *testing.T) {
	for name, c := range map[string]struct {
		change func(ct *contest, reading *tenure, e *engine)
		joins  bool
	}{
		"nothing":              {func(*contest, *tenure, *engine) {}, true},
		"one reads behind it":  {func(ct *contest, _ *tenure, _ *engine) { awaits(ct, true) }, true},
		"one writes behind it": {func(ct *contest, _ *tenure, _ *engine) { awaits(ct, false) }, false},
		"one elsewhere waits":  {func(_ *contest, reading *tenure, _ *engine) { reading.joining.closed = true }, false},
		"the news are old":     {func(_ *contest, reading *tenure, _ *engine) { reading.joining.heard = time.Now().Add(-maxUnheard) }, false},
		"they have ended":      {func(_ *contest, reading *tenure, _ *engine) { reading.ended = true }, false},
		"its TTL is another":   {func(_ *contest, _ *tenure, e *engine) { e.set.ttl = time.Second }, false},
		"the client ends":      {func(ct *contest, _ *tenure, _ *engine) { close(ct.client.closing) }, false},
		"it writes":            {func(_ *contest, _ *tenure, e *engine) { e.shared, e.joinable = way{}, way{} }, false},
		"the nodes are asked already": {func(_ *contest, reading *tenure, _ *engine) {
			reading.joining.asking, reading.joining.asked = true, time.Time{}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			withTime(t, shared, func(t *testing.T, ct *contest) {
				reading := ct.tenureTo("own:1", true)
				ct.begin(reading)
				e := ct.engineTo(true)
				e.keys.Lock = ct.key.lock
				c.change(ct, reading, e)
				l := e.join(new(owner).slot(ct.client, ct.key.lock))
				require.Equal(t, c.joins, l != nil)
			})
		})
	}
}

// Nor does anybody begin within a tenure of a client that ends.
func TestNobodyBeginsWithinATenureOfAClientThatEnds(t *testing.T) {
	withTime(t, shared, func(t *testing.T, ct *contest) {
		ct.begin(ct.tenureTo("own:1", false))
		e := ct.engineTo(true)
		e.keys.Lock = ct.key.lock
		s := new(owner).slot(ct.client, ct.key.lock)
		require.NotNil(t, e.join(s))
		close(ct.client.closing)
		require.Nil(t, e.join(new(owner).slot(ct.client, ct.key.lock)))
	})
}

// Within a tenure that writes, one writes or some read, in the order of arrival.
func TestTurnsWithinATenureThatWrites(t *testing.T) {
	bg := context.Background()
	begins := func(ct *contest) *tenure {
		held := ct.tenureTo("own:1", false)
		ct.begin(held)
		held.serving.timed = true // nothing is to be looked at later
		held.reserve.last, held.reserve.top, held.reserve.lot, held.reserve.asked = 7, 100, 2, time.Now()
		return held
	}
	ends := func(l *Lease) {
		l.hold.leave(l.hold)
		l.hold.slot.clear(l.hold)
	}
	t.Run("one after the other", func(t *testing.T) {
		withTime(t, shared, func(t *testing.T, ct *contest) {
			held := begins(ct)
			writer, reader, other, last := comes(bg, ct, ct.engineTo(false)), comes(bg, ct, ct.engineTo(true)), comes(bg, ct, ct.engineTo(true)), comes(bg, ct, ct.engineTo(false))
			for _, p := range ct.queue {
				p.here = true
			}
			require.Equal(t, passed, ct.serve(held, true).passing)
			require.NotNil(t, writer.lease)
			require.Equal(t, int64(8), writer.lease.Token())
			require.Nil(t, reader.lease)
			ends(writer.lease)
			require.Equal(t, passed, ct.serve(held, true).passing)
			require.NotNil(t, reader.lease)
			require.NotNil(t, other.lease)
			require.Nil(t, last.lease)
			ends(reader.lease)
			require.Equal(t, passed, ct.serve(held, true).passing)
			require.Nil(t, last.lease, "one reads still")
			ends(other.lease)
			require.Equal(t, passed, ct.serve(held, true).passing)
			require.NotNil(t, last.lease)
			ends(last.lease)
			require.Equal(t, waits, ct.serve(held, false).passing, "it is another's to end it")
			require.False(t, held.ended)
			ct.serve(held, true)
			require.True(t, held.ended, "nobody wants it")
		})
	})
	t.Run("who writes when nobody does any more is known", func(t *testing.T) {
		withTime(t, shared, func(t *testing.T, ct *contest) {
			held := begins(ct)
			l := held.admit(ct.engineTo(false), new(owner).slot(ct.client, ct.key.lock), nil, time.Now())
			require.True(t, held.serving.writing)
			time.Sleep(time.Millisecond)
			ends(l)
			read, _ := ct.enter(held, ct.engineTo(true), new(owner).slot(ct.client, ct.key.lock))
			require.NotNil(t, read, "the writer has ended")
			require.Equal(t, time.Now(), held.serving.wrote)
		})
	})
	t.Run("those who follow whoever is served ask", func(t *testing.T) {
		withTime(t, shared, func(t *testing.T, ct *contest) {
			held := begins(ct)
			leader := comes(bg, ct, ct.engineTo(true))
			alone := ct.engineTo(true)
			alone.set.apart = true // so it has no turn within the tenure
			follower := comes(bg, ct, alone)
			follower.follow(leader)
			ct.serve(held, true)
			require.NotNil(t, leader.lease)
			require.Nil(t, follower.lease)
			require.Nil(t, follower.leader)
			require.True(t, woken(follower))
		})
	})
	t.Run("not if the nodes have given the name to another one of this process", func(t *testing.T) {
		withTime(t, shared, func(t *testing.T, ct *contest) {
			held := begins(ct)
			reads := held.admit(ct.engineTo(true), new(owner).slot(ct.client, ct.key.lock), nil, time.Now())
			ct.tenure = ct.tenureTo("own:2", false)
			held.serving.closed = true
			does := ct.serve(held, false)
			require.Equal(t, service{passing: passed}, does, "it is about to be lost, and tells the nodes nothing")
			require.False(t, held.reads)
			require.Equal(t, "own:2", ct.tenure.id)
			ends(reads)
		})
	})
	t.Run("whoever comes while the nodes are asked ends the tenure itself", func(t *testing.T) {
		withTime(t, shared, func(t *testing.T, ct *contest) {
			held := begins(ct)
			held.vacant = true // nobody is inside: their answer lets the next one begin
			comes(bg, ct, ct.engineTo(false)).here = true
			require.Equal(t, passed, ct.serve(held, false).passing)
			require.False(t, held.vacant, "somebody is")
		})
	})
}

// A node on which the hold reads gives out no tokens to write with.
func TestANodeOnWhichATenureReadsConfirmsNoTokens(t *testing.T) {
	ct := sharing()
	yes := ct.tenureTo("own:1", false).reserveTurns(100).Yes
	for reply, want := range map[int64]bool{1: true, 0: true, -1: false, -2: false, -3: false} {
		got, err := yes(reply)
		require.NoError(t, err)
		require.Equal(t, want, got, reply)
	}
}

// Who comes waits without a place for as long as permits are passed on, and are all here; and not if others wait.
func TestWhoWaitsForAPermitTakesAPlaceInTime(t *testing.T) {
	for name, c := range map[string]struct {
		change func(ct *contest, p *place)
		left   time.Duration
	}{
		"at first":                {func(*contest, *place) {}, maxHere},
		"for the rest":            {func(_ *contest, p *place) { p.call.began = time.Now().Add(-maxHere / 5) }, maxHere - maxHere/5},
		"not any longer":          {func(_ *contest, p *place) { p.call.began = time.Now().Add(-maxHere) }, 0},
		"not if it was sent":      {func(_ *contest, p *place) { p.sent = true }, 0},
		"not if one may be free":  {func(ct *contest, _ *place) { ct.relay.slots-- }, 0},
		"not if none is passed":   {func(ct *contest, _ *place) { ct.relay.passed = time.Now().Add(-lively) }, 0},
		"not if others wait":      {func(ct *contest, _ *place) { ct.relay.others = time.Now() }, 0},
		"nor if they did just so": {func(ct *contest, _ *place) { ct.relay.others = time.Now().Add(1 - aloof) }, 0},
		"if they did before":      {func(ct *contest, _ *place) { ct.relay.others = time.Now().Add(-aloof) }, maxHere},
		"not if they are that far": {func(ct *contest, _ *place) {
			ct.relay.others, ct.relay.trip = time.Now().Add(-aloof), time.Millisecond
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			withTime(t, slotted, func(t *testing.T, ct *contest) {
				p := awaiting(context.Background(), ct)
				p.call.engine.numbered, p.call.engine.permits, p.call.began = permit{}, 2, time.Now()
				ct.relay.slots, ct.relay.passed = 2, time.Now()
				c.change(ct, p)
				require.Equal(t, c.left, p.stays())
				require.Equal(t, c.left > 0, p.unplaced)
			})
		})
	}
}

// What has ended is repaired nowhere, looked for nowhere, and waited for by nobody.
func TestATenureThatHasEndedIsLeftAlone(t *testing.T) {
	ct := sharing()
	over := ct.tenureTo("own:1", false)
	over.mending = true
	require.True(t, over.isMending())
	over.ended = true
	require.False(t, over.isMending())
	over.repair([]bool{true}, time.Second) // there are no nodes that it could ask
	require.Empty(t, leastRecentlyGranted([]*tenure{over}))
	var p probe // of no client
	p.answered(redlock.Server{}, sample{tenure: over, grant: 1}, redlock.Answer{Vote: redlock.No})
}

// Slots may have to be aligned, which takes another round.
func TestAClaimOfPermitsIsNotPrompt(t *testing.T) {
	require.False(t, (&tenure{engine: &engine{numbered: permit{}}}).isPrompt(nil))
}

// Room that was given to whoever is passed the lock is for others.
func TestWhoIsPassedTheLockGivesItsRoomBack(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", slotted})
	p := awaiting(context.Background(), ct)
	p.lease = new(Lease)
	room := make(chan struct{}, 1)
	room <- struct{}{}
	q := &queuer{call: p.call, place: p, admitted: room}
	require.Equal(t, p.lease, q.passed())
	require.Empty(t, room)
}

// A head looks when the first of what it waits for may have happened.
func TestAHeadLooksForWhatComesFirst(t *testing.T) {
	withTime(t, queued, func(t *testing.T, ct *contest) {
		p := awaiting(context.Background(), ct)
		p.call.engine.set.beat = time.Second
		q := &queuer{call: p.call, place: p, tenure: new(tenure), next: true, dying: 5 * time.Second}
		for _, free := range []time.Duration{deafPoll / 2, 2 * deafPoll} {
			start := time.Now()
			require.NoError(t, q.wait(&denial{sure: true, free: free}))
			least := min(free, deafPoll) // it cannot hear
			require.GreaterOrEqual(t, time.Since(start), least)
			require.Less(t, time.Since(start), least+10*time.Millisecond)
		}
	})
}

// Whoever has heard the nodes' answer lets the next one ask, and may have its turn within a tenure that has begun meanwhile.
func TestWhoHasHeardTheNodesIsInNobodysWay(t *testing.T) {
	withTime(t, shared, func(t *testing.T, ct *contest) {
		bg := context.Background()
		first, second := comes(bg, ct, ct.engineTo(false)), comes(bg, ct, ct.engineTo(false))
		first.attempts, first.starting, second.later = true, true, true
		first.ceases()
		require.False(t, first.attempts)
		require.False(t, first.starting)
		require.True(t, second.starting)
		require.True(t, woken(second))

		held := ct.tenureTo("own:1", false)
		held.serving.timed = true
		held.reserve.last, held.reserve.top, held.reserve.lot, held.reserve.asked = 7, 100, 2, time.Now()
		ct.begin(held)
		first.attempts = true
		ct.attend()
		require.Nil(t, first.lease, "it asks")
		first.ceases()
		require.NotNil(t, first.lease)
	})
}

// contends has a contender wait at the head of ct, that listens to nodes which never confirm that.
func contends(t *testing.T, ct *contest) *contender {
	t.Helper()
	hub := waiter.New(nil, 1, slog.New(slog.DiscardHandler))
	t.Cleanup(hub.Close)
	ct.wakes = hub.Subscribe("orders", ct.published)
	c := &contender{call: &call{engine: &engine{client: ct.client}, ctx: context.Background(), slot: new(slot)}}
	c.place.contest, c.place.call = ct, c.call
	ct.queue = append(ct.queue, &c.place)
	return c
}

// As long as others have a chance, nobody here looks, whatever the reason.
func TestTheHeadLooksForNothingWhileOthersHaveAChance(t *testing.T) {
	withTime(t, unordered, func(t *testing.T, ct *contest) {
		c := contends(t, ct)
		turn := func() bool {
			_, turn, _ := c.watch()
			return turn
		}
		require.True(t, turn())
		c.checked = true
		start := time.Now()
		ct.wakeLater(fairChance, false)
		require.False(t, turn())
		require.NoError(t, c.wait(&denial{sure: true, holder: "other:1", free: time.Millisecond}))
		require.Equal(t, fairChance, time.Since(start))
		require.True(t, turn())
	})
}

// The confirmation of a subscription may never come, and the time for it may have passed before the head waits for it.
func TestAHeadDoesNotWaitForAConfirmationThatIsOverdue(t *testing.T) {
	withTime(t, unordered, func(t *testing.T, ct *contest) {
		for _, late := range []time.Duration{-time.Millisecond, 0, time.Second} {
			c := contends(t, ct)
			ct.queue = []*place{&c.place}
			start := time.Now()
			c.late = start.Add(late)
			require.NoError(t, c.wait(nothing))
			require.LessOrEqual(t, time.Since(start), max(late, time.Nanosecond))
			require.True(t, c.checked)
		}
	})
}

// An attempt that found out nothing for certain says nothing about the others.
func TestAnAttemptThatToldNothingCountsForNobody(t *testing.T) {
	ct := newCore().contest(contestKey{lock: "lock:{orders}"})
	c := contends(t, ct)
	ct.rivals = &rivals{waited: true}
	c.overtaken(&denial{holder: "other:1"}, time.Millisecond)
	require.True(t, ct.rivals.waited, "nobody has come, as far as is known")
	c.overtaken(&denial{holder: "other:1", sure: true}, time.Millisecond)
	require.False(t, ct.rivals.waited)
}

// It looks as if somebody ended holds without a word if another one has the lock, although no message came and the hold
// before cannot have ended by itself.
func TestWhoIsToldNothingCannotHear(t *testing.T) {
	const free, ttl = 5 * time.Second, 30 * time.Second
	withTime(t, unordered, func(t *testing.T, ct *contest) {
		found := func(c *contender, holder string) { c.notice(&denial{holder: holder, sure: true, free: free, ttl: ttl}) }
		hears := func(c *contender) bool { return !time.Now().Before(c.untold) }
		c := contends(t, ct)
		found(c, "other:1")
		require.True(t, hears(c))
		time.Sleep(free - time.Second)
		found(c, "other:1")
		require.True(t, hears(c), "it has it still")
		time.Sleep(time.Second)
		found(c, "another:1")
		require.False(t, hears(c))
		c.woken = true
		found(c, "other:2")
		require.True(t, hears(c))

		c = contends(t, ct)
		found(c, "other:1")
		time.Sleep(free + time.Second)
		found(c, "another:1")
		require.True(t, hears(c), "a quorum may have been free by itself")

		c = contends(t, ct)
		c.behind = new(tenure)
		found(c, "own:1")
		c.behind = nil
		found(c, "other:1")
		require.True(t, hears(c), "the end of a hold of its own process needs no message")
	})
}

// A hold of this process that stays taken after its end is waited for like another's: only time ends it.
func TestWhatStaysTakenHasNotEnded(t *testing.T) {
	ct := newCore().contest(contestKey{lock: "lock:{orders}"})
	c := contends(t, ct)
	for holder, sure := range map[string]bool{"other:1": true, "own:1" + lua.Lingers: true, "own:1": false, "own:2": true} {
		ct.tenure = &tenure{id: "own:2"}
		d := c.place.saw(&denial{holder: holder, sure: true})
		require.Equal(t, sure, d.sure, holder)
	}
}

// A leaver is how one waits that is passed a lease at the moment when it leaves.
type leaver struct {
	turns
	lease *Lease
}

func (l *leaver) passed() *Lease { return nil }

func (l *leaver) leave() *Lease {
	lease := l.lease
	l.lease = nil
	return lease
}

// Nobody else could give it back.
func TestWhoeverIsPassedALeaseAsItLeavesHasIt(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", queued})
	over, end := context.WithCancel(context.Background())
	end()
	a := &acquisition{call: *comes(over, ct, &engine{client: ct.client}).call}
	a.slot.set(new(hold))
	lease := new(Lease)
	a.turns = &leaver{lease: lease}
	l, _, err := a.here()
	require.NoError(t, err)
	require.Equal(t, lease, l)
}

// Those of a process that stand directly behind a grant are served in the order of their places, whoever of them came
// first: it may have been out of the nodes' reach then.
func TestARunHasTheOrderOfItsPlaces(t *testing.T) {
	held, _ := written(t, "own:1")
	ct := held.engine.client.contest(contestKey{"lock:{orders}", queued})
	held.contest = ct
	first := comes(context.Background(), ct, held.engine)
	second := comes(context.Background(), ct, held.engine)
	unplaced := comes(context.Background(), ct, held.engine)
	unplaced.opened = time.Now()
	first.opened, first.ticket = time.Now(), 9
	second.opened, second.ticket = time.Now(), 8
	time.Sleep(time.Millisecond) // which the clock may need to go on
	grant := held.engine.client.group.Draft(redlock.Motion{})
	require.Equal(t, second, held.lineUp(grant))
	require.Equal(t, []*place{second, first}, held.run.next)
}

// Those that have permits at the same time share the microseconds: together they reserve no more tokens than a node's
// clock counts.
func TestTenuresOfPermitsShareTheMicroseconds(t *testing.T) {
	withTime(t, slotted, func(t *testing.T, ct *contest) {
		e := &engine{client: ct.client, order: slotted, shared: permit{}, numbered: permit{}, permits: 2}
		one := &tenure{engine: e, contest: ct, numbering: new(numbering), since: time.Now()}
		ct.reads = []*tenure{one, new(tenure)}
		ct.relay.slots, ct.relay.token = 2, 100
		time.Sleep(10 * time.Microsecond)
		last := one.reserve.begin(one, time.Now())
		require.EqualValues(t, []int64{100, 105}, []int64{one.after, last})

		one.reserve = reserve{}
		ct.relay.slots = 1 // others may be granted some
		time.Sleep(40 * time.Microsecond)
		last = one.reserve.begin(one, time.Now())
		require.EqualValues(t, []int64{105 + tokenGap, 105 + 50/2}, []int64{one.after, last}, "it counts what is left to others, too")
	})
}

// However many tenures share them, each reserve is as large as it may be: one of a single token costs a command for each
// permit that is passed on.
func TestAReserveIsNotDividedAmongTenures(t *testing.T) {
	withTime(t, slotted, func(t *testing.T, ct *contest) {
		e := &engine{client: ct.client, order: slotted, shared: permit{}, numbered: permit{}, permits: 512}
		one := &tenure{engine: e, contest: ct, numbering: new(numbering), since: time.Now()}
		ct.reads = make([]*tenure, 512)
		ct.relay.slots = 512
		time.Sleep(askEvery)
		last := one.reserve.begin(one, time.Now())
		require.EqualValues(t, minReserve, last-one.after)
	})
}

// Only leases with the same settings are within one tenure.
func TestLeasesWithOtherSettingsAreNotTheSame(t *testing.T) {
	plain := settings{ttl: time.Minute, renew: true}
	require.True(t, plain.same(&settings{ttl: time.Minute, renew: true, maxHold: time.Hour}))
	for name, change := range map[string]func(*settings){
		"fixed":    func(s *settings) { s.renew = false },
		"apart":    func(s *settings) { s.apart = true },
		"TTL":      func(s *settings) { s.ttl++ },
		"note":     func(s *settings) { s.note = "export" },
		"rest":     func(s *settings) { s.rest = 1 },
		"min hold": func(s *settings) { s.minHold = 1 },
	} {
		other := plain
		change(&other)
		require.False(t, plain.same(&other), name)
		require.False(t, other.same(&plain), name)
	}
}

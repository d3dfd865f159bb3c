package lock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/watchdog"
)

// A way is the kind of a read-write lock, to read or to write.
type way struct {
	kind.Joinable
	reads bool
}

func (w way) Reads() bool  { return w.reads }
func (w way) Mark() string { return "" }

// newCore is a client without nodes.
func newCore() *core {
	return &core{
		id: "own", contests: make(map[contestKey]*contest), queuers: make(map[string]*place), shared: make(map[string]*tenure),
		closing: make(chan struct{}), idle: make(chan struct{}), begun: func() {}, retention: 24 * time.Hour,
	}
}

// sharing is the contest of a read-write lock.
func sharing() *contest { return newCore().contest(contestKey{"lock:{orders}", shared}) }

// awaits has one more of this process wait in ct, to read or to write.
func awaits(ct *contest, reads bool) *place {
	p := awaiting(context.Background(), ct)
	p.call.engine = ct.engineTo(reads)
	return p
}

// engineTo is the lock of ct, to read or to write.
func (ct *contest) engineTo(reads bool) *engine {
	w := way{reads: reads}
	return &engine{client: ct.client, order: ct.key.order, shared: w, joinable: w, set: settings{ttl: 30 * time.Second, renew: true}}
}

// tenureTo is one that has been granted a moment ago.
func (ct *contest) tenureTo(id string, reads bool) *tenure {
	now := time.Now()
	t := &tenure{engine: ct.engineTo(reads), id: id, contest: ct, reads: reads, since: now, ttl: 30 * time.Second, validity: now.Add(30 * time.Second)}
	if reads {
		t.joining = &joining{heard: now, asked: now}
	} else {
		t.serving = &serving{clear: now}
	}
	return t
}

// Who waits to read follows the last one before it that has a place of its own, unless somebody who waits to write may
// have come in between.
func TestWhoWaitsToReadFollowsNobodyPastAWriter(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(ct *contest, leader *place)
		follows bool
	}{
		"that asks":                       {func(*contest, *place) {}, true},
		"that has yet to ask":             {func(_ *contest, leader *place) { leader.opened = time.Time{} }, true},
		"that others follow":              {func(ct *contest, leader *place) { awaits(ct, true).follow(leader) }, true},
		"who is before a writer":          {func(ct *contest, _ *place) { awaits(ct, false) }, false},
		"who is before one that has none": {func(ct *contest, _ *place) { awaits(ct, true).here = true }, false},
		"behind whom a writer waits":      {func(_ *contest, leader *place) { leader.closed = true }, false},
		"behind whom a writer waits though others follow": {func(ct *contest, leader *place) {
			awaits(ct, true).follow(leader)
			leader.closed = true
		}, false},
		"whose news are old": {func(_ *contest, leader *place) { leader.opened = time.Now().Add(-maxUnheard) }, false},
		"with another TTL": {func(_ *contest, leader *place) {
			leader.call.engine.set.ttl = time.Second
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ct := sharing()
			leader := awaits(ct, true)
			leader.opened = time.Now().Add(-maxUnheard / 5)
			c.change(ct, leader)
			before := len(ct.queue)
			p := awaits(ct, true)
			var want *place
			if c.follows {
				want = leader
			}
			require.Equal(t, want, ct.leads(p, ct.queue[:before]))
			require.Nil(t, ct.leads(awaits(ct, false), ct.queue[:before]), "a writer follows nobody")
		})
	}
}

// Those who followed one that leaves follow the first of them, which is where the one before was.
func TestThoseWhoFollowedOneThatLeavesFollowTheFirstOfThem(t *testing.T) {
	for _, later := range []bool{false, true} { // before it has asked for a place: others of its process do first
		ct := sharing()
		leader, first := awaits(ct, true), awaits(ct, true)
		awaits(ct, false)
		second := awaits(ct, true)
		first.follow(leader)
		second.follow(leader)
		leader.opened, leader.closed, leader.later = time.Now().Add(-time.Minute), true, later
		ct.desert(leader)
		require.Nil(t, first.leader)
		require.Equal(t, leader.opened, first.opened, "it is as old")
		require.True(t, first.closed, "a writer waits behind it")
		require.Equal(t, later, first.later)
		require.Equal(t, !later, woken(first))
		require.Equal(t, first, second.leader)
		require.False(t, woken(second))
	}
}

// One that is served within its process before it has asked for a place leaves nobody asleep.
func TestThoseWhoFollowedOneThatIsServedBeforeItAsksAskThemselves(t *testing.T) {
	ct := sharing()
	leader, follower := awaits(ct, true), awaits(ct, true)
	leader.later = true
	follower.follow(leader)
	ct.take(leader)
	ct.desert(leader)
	require.True(t, woken(follower))
	require.False(t, follower.follows())
}

// How old a place is counts from when it was first asked for: the nodes have told nothing about writers since.
func TestAPlaceIsAsOldAsTheFirstRequest(t *testing.T) {
	p := awaits(sharing(), true)
	p.opens()
	require.WithinDuration(t, time.Now(), p.opened, time.Second)
	before := time.Now().Add(-time.Minute)
	p.opened = before
	p.opens()
	require.Equal(t, before, p.opened)
}

// Who has left has no ticket, or it would be passed the lock, or named as the next one.
func TestWhoHasLeftTheQueueHasNoTurn(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", queued})
	p := awaiting(context.Background(), ct)
	p.ticket = 7
	require.False(t, p.isGone())
	require.Equal(t, p, ct.successor())
	ct.drop(p)
	require.True(t, p.isGone())
}

// Goroutines of a process ask for their places one after the other, as they came: if one that is about to does not, the
// next one does.
func TestGoroutinesAskForTheirPlacesInTheOrderOfArrival(t *testing.T) {
	ct := sharing()
	enters := func(reads bool) *place {
		p := newInQueue(&call{engine: ct.engineTo(reads), ctx: context.Background(), slot: new(slot)})
		ct.client.enqueue(p, ct.key)
		return p
	}
	first := enters(false)
	require.False(t, first.later, "nobody is before it")
	first.starting = true
	second := enters(false)
	require.True(t, second.later, "the first one asks")
	first.starting = false
	third := enters(false)
	require.True(t, third.later, "the second one has yet to ask")
	fourth := enters(true)
	require.True(t, fourth.later)
	fifth := enters(true)
	require.False(t, fifth.later, "it follows")
	require.Equal(t, fourth, fifth.leader)

	first.starting = true
	ct.remove(first)
	require.True(t, second.starting)
	require.True(t, woken(second))
	require.False(t, third.starting)
	second.starting = false
	ct.remove(second)
	require.False(t, third.starting, "it was not for the second one that it waits")
	ct.advance()
	require.True(t, third.starting)
	require.True(t, woken(third))
	require.True(t, fourth.later)
}

// When a turn within the process will not come, those who wait for it ask the nodes, in the order of arrival.
func TestThoseWhoWaitForATurnThatDoesNotComeAskTheNodes(t *testing.T) {
	ct := sharing()
	reader, follower, writer := awaits(ct, true), awaits(ct, true), awaits(ct, false)
	for _, p := range ct.queue {
		p.here = true
	}
	ct.disband(everybody)
	for _, p := range ct.queue {
		require.False(t, p.here)
	}
	require.True(t, reader.starting, "the first one asks")
	require.True(t, woken(reader))
	require.Equal(t, reader, follower.leader)
	require.False(t, follower.later)
	require.True(t, writer.later, "after that")
	require.False(t, woken(writer))
}

// When a tenure begins, those who have yet to ask the nodes wait for their turn within it, if they may.
func TestThoseWhoHaveYetToAskWaitForATurnWithinATenureThatBegins(t *testing.T) {
	ct := sharing()
	asks, may, other := awaits(ct, false), awaits(ct, false), awaits(ct, false)
	asks.starting, may.later, other.later = true, true, true
	other.call.engine.set.ttl = time.Second
	ct.seat(ct.tenureTo("own:1", false))
	require.False(t, asks.here)
	require.True(t, asks.starting)
	require.True(t, may.here)
	require.False(t, may.later)
	require.False(t, other.here, "its settings differ")
	require.True(t, other.later)
	ct.advance()
	require.True(t, asks.starting, "one asks already")
	require.False(t, woken(other))
}

// As many of those who wait without a place take one as there are permits for.
func TestAPermitThatEndsSendsOneWhoWaitsHereToTheNodes(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", slotted})
	bg := context.Background()
	placed, first, second := awaiting(bg, ct), awaiting(bg, ct), awaiting(bg, ct)
	first.unplaced, second.unplaced = true, true
	ct.disperse(1)
	require.False(t, woken(placed))
	require.True(t, woken(first))
	require.False(t, first.unplaced)
	require.True(t, first.sent, "it does not wait here any more")
	require.False(t, woken(second))
	require.True(t, second.unplaced)
	require.False(t, second.sent)
	ct.disperse(2)
	require.True(t, second.sent)
}

// Those who wait for permits ask for their places one after the other, whatever becomes of those before them.
func TestWhoIsSentToTheNodesAsksAfterThoseBeforeIt(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", slotted})
	var all []*place
	for range 6 {
		p := awaiting(context.Background(), ct)
		p.unplaced = true
		all = append(all, p)
	}
	last := all[5]
	last.unplaced = false
	require.True(t, all[0].unplaced)
	ct.sends(last)
	asks := func(next *place) {
		t.Helper()
		for _, p := range all {
			require.Equal(t, p == next, woken(p))
			require.False(t, p.unplaced)
		}
		require.True(t, next.starting)
		require.False(t, next.later)
	}
	asks(all[0])
	all[0].underWay(nil)
	asks(all[1])
	all[1].underWay(nil)
	all[0].underWay(nil) // as it asks again
	asks(all[2])
	ct.drop(all[2]) // it gives up
	asks(all[3])
	ct.drop(all[4])
	all[3].ceases() // it could not ask
	asks(last)
	require.True(t, last.sent)
}

// What a process has is what the nodes have granted last: a grant to write ends what came before, and a grant to read
// what was granted to write.
func TestAGrantEndsWhatTheNodesCannotHaveAnyMore(t *testing.T) {
	ct := sharing()
	c := ct.client
	first, second := ct.tenureTo("own:1", true), ct.tenureTo("own:2", true)
	require.Empty(t, ct.begin(first))
	require.Empty(t, ct.begin(second), "they read together")
	require.Equal(t, []*tenure{first, second}, ct.reads)
	require.Equal(t, 2, c.held)
	require.Equal(t, map[string]*tenure{"own:1": first, "own:2": second}, c.shared)

	writer := ct.tenureTo("own:3", false)
	require.Equal(t, []*tenure{first, second}, ct.begin(writer))
	require.Equal(t, writer, ct.tenure)
	require.Empty(t, ct.reads)
	require.Equal(t, 1, c.held)
	require.Equal(t, map[string]*tenure{"own:3": writer}, c.shared, "messages about the others are for nobody")

	third := ct.tenureTo("own:4", true)
	require.Equal(t, []*tenure{writer}, ct.begin(third))
	require.Nil(t, ct.tenure)
	require.Equal(t, 1, c.held)
	require.Equal(t, map[string]*tenure{"own:4": third}, c.shared)

	require.False(t, ct.end(writer), "it has ended")
	require.True(t, ct.end(third))
	require.Empty(t, ct.reads)
	require.Zero(t, c.held)
	require.Empty(t, c.shared)
}

// A process knows how many slots it has: as long as it has all of them, nobody here need ask the nodes. And it knows the
// greatest token, which those that are reserved must exceed.
func TestAProcessCountsItsPermits(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", slotted})
	permit := func(id string, wants int, token int64) *tenure {
		p := &tenure{engine: &engine{client: ct.client, order: slotted, wants: wants}, id: id, contest: ct, reads: true}
		p.first.token = token
		return p
	}
	first, second := permit("own:1", 2, 70), permit("own:2", 3, 40)
	ct.begin(first)
	ct.begin(second)
	require.Equal(t, 5, ct.relay.slots)
	require.Equal(t, int64(70), ct.relay.token)
	waits := awaiting(context.Background(), ct)
	waits.unplaced = true
	require.True(t, ct.end(first))
	require.Equal(t, 3, ct.relay.slots)
	require.Equal(t, int64(70), ct.relay.token, "it was given out")
	require.True(t, waits.sent, "a slot may be free")
	ct.begin(&tenure{engine: &engine{client: ct.client, order: slotted}, id: "own:3", contest: ct})
	require.Zero(t, ct.relay.slots, "nobody else has any")
}

// Who is next in the queues on the nodes is told by the tickets, and by the ids if those are the same.
func TestTheSuccessorIsFirstInTheQueues(t *testing.T) {
	bg := context.Background()
	ct := newCore().contest(contestKey{"lock:{orders}", queued})
	require.Nil(t, ct.successor())
	last, _, second, first := awaiting(bg, ct), awaiting(bg, ct), awaiting(bg, ct), awaiting(bg, ct)
	require.Nil(t, ct.successor(), "nobody has a ticket yet")
	last.ticket, last.id = 8, "own:1"
	second.ticket, second.id = 7, "own:3"
	first.ticket, first.id = 7, "own:2"
	require.Equal(t, first, ct.successor())
	second.id, first.id = first.id, second.id
	require.Equal(t, second, ct.successor())
	ct.unpredictable = true
	require.Nil(t, ct.successor())
}

// Whatever has become of the tenure: nobody else wakes the queuer that its release counts on. If it counts on none, the
// one that is probably next asks.
func TestTheSuccessorIsWokenWhenATenureIsOver(t *testing.T) {
	bg := context.Background()
	ct := newCore().contest(contestKey{"lock:{orders}", queued})
	named, next := awaiting(bg, ct), awaiting(bg, ct)
	named.ticket, next.ticket = 8, 7
	held := &tenure{engine: &engine{client: ct.client, order: queued}, id: "own:1", contest: ct}
	ct.begin(held)
	ct.client.over(held, named)
	require.True(t, woken(named))
	require.True(t, named.successor)
	require.False(t, woken(next))

	ct.client.over(held, named) // it is over already
	require.True(t, woken(named))

	ct.begin(held)
	ct.client.over(held, nil)
	require.True(t, woken(next))
	require.True(t, next.successor)
	require.False(t, woken(named))
}

// A contest is there as long as this process has the name, to read or to write, or wants it, and signs of life are given
// as long as somebody waits.
func TestWhatNobodyNeedsIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ct := sharing()
		ct.client.watchdog = watchdog.New(func([]*watchdog.Ward) {})
		defer ct.client.watchdog.Close()
		reads := ct.tenureTo("own:1", true)
		ct.begin(reads)
		p := awaits(ct, true)
		ct.heartbeats = &heartbeats{contest: ct}
		ct.tidy()
		require.NotNil(t, ct.heartbeats, "somebody waits")
		ct.remove(p)
		require.Nil(t, ct.heartbeats, "the next one who waits has them begin anew")
		require.True(t, ct.isCurrent(), "others may join")
		ct.begin(ct.tenureTo("own:2", false))
		p = awaits(ct, true)
		ct.heartbeats = &heartbeats{contest: ct}
		ct.remove(p)
		require.Nil(t, ct.heartbeats)
		require.True(t, ct.isCurrent(), "the next one may have its turn here")
		ct.end(ct.tenure)
		ct.tidy()
		require.False(t, ct.isCurrent())
	})
}

// It is there as long as others have a chance, too.
func TestANameIsForgottenWhenTheOthersHaveHadTheirChance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ct := newCore().contest(contestKey{lock: "lock:{orders}"})
		current := func() bool {
			ct.client.mu.Lock()
			defer ct.client.mu.Unlock()
			return ct.isCurrent()
		}
		ct.client.mu.Lock()
		ct.wakeLater(fairChance, false)
		ct.tidy()
		ct.client.mu.Unlock()
		time.Sleep(fairChance - time.Millisecond)
		require.True(t, current())
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.False(t, current())
	})
}

// A chance that begins as the one before ends is not cut short.
func TestAChanceLastsThoughTheOneBeforeEndsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ct := newCore().contest(contestKey{lock: "lock:{orders}"})
		p := &place{contest: ct}
		ct.queue = append(ct.queue, p)
		wake, c := p.signal(), ct.client
		c.mu.Lock()
		ct.wakeLater(fairChance, true)
		time.Sleep(fairChance) // so the timer has run off, and waits for the mutex
		ct.wakeLater(fairChance, true)
		c.mu.Unlock()
		time.Sleep(fairChance / 2)
		require.Empty(t, wake)
		time.Sleep(fairChance)
		synctest.Wait()
		require.Len(t, wake, 1)
	})
}

// Whoever a node has told to ask does, unless it has asked since or is about to hear an answer: what a node has really
// forgotten it says again.
func TestWhoIsToldToAskDoesUnlessItHasAskedSince(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", queued})
	p := awaiting(context.Background(), ct)
	p.id = "own:1"
	ct.client.queuers[p.id] = p
	sent := time.Now()
	p.asked = sent.Add(-time.Second)
	for _, told := range []lua.Beaten{{Due: []string{"other:1", "own:1"}}, {First: "own:1"}} {
		p.attempts, p.first = false, false
		ct.client.stir(told, sent)
		require.True(t, woken(p))
		require.True(t, p.polled, "nobody has said that it is its turn")
		p.attempts = true
		ct.client.stir(told, sent)
		require.False(t, woken(p))
	}
	p.attempts, p.first = false, true
	ct.client.stir(lua.Beaten{First: "own:1"}, sent)
	require.False(t, woken(p), "it knows that it is the first one")
	p.asked = sent.Add(time.Nanosecond)
	ct.client.stir(lua.Beaten{Due: []string{"own:1"}}, sent)
	require.False(t, woken(p))
}

// What an attempt has found is known to others: whether it is at the head somewhere, and its ticket once that is final.
// A successor that is not at the head was guessed wrong, and none is named from then on.
func TestWhatAnAttemptHasFoundIsKnown(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", queued})
	p := awaiting(context.Background(), ct)
	q := &queuer{call: p.call, place: p, ticket: lua.Ticket{Number: 7}}
	d := &denial{holder: "other:1"}
	p.note(q, d, false)
	require.Equal(t, d, ct.last)
	require.Zero(t, p.ticket, "it may yet be a greater one")
	require.False(t, p.first)
	require.False(t, ct.unpredictable)
	q.ticket.Final, q.next = true, true
	p.note(q, d, true)
	require.Equal(t, int64(7), p.ticket)
	require.True(t, p.first)
	require.False(t, ct.unpredictable, "it is next somewhere")
	q.next = false
	p.note(q, d, true)
	require.False(t, p.first)
	require.True(t, ct.unpredictable)
	q.next = true
	p.note(q, d, true)
	require.True(t, ct.unpredictable)
}

// Whoever asks needs no other reason to: each that there was until then is heard once.
func TestWhoAsksHasHeardWhatItWasToldUntilThen(t *testing.T) {
	ct := newCore().contest(contestKey{"lock:{orders}", queued})
	p := awaiting(context.Background(), ct)
	p.causes, p.successor = []string{"other:1"}, true
	p.poll()
	p.call.handover = HandoverMessage
	successor, causes := p.asks()
	require.True(t, successor)
	require.Equal(t, []string{"other:1"}, causes)
	require.Equal(t, HandoverPoll, p.call.handover, "it was woken to look")
	require.False(t, woken(p))
	p.stir(true)
	p.call.handover = HandoverMessage
	successor, causes = p.asks()
	require.False(t, successor)
	require.Empty(t, causes)
	require.Equal(t, HandoverMessage, p.call.handover)
}

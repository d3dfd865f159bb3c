package lock

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// awaiting has one more of this process wait in ct, until ctx ends.
func awaiting(ctx context.Context, ct *contest) *place {
	p := newInQueue(&call{engine: &engine{client: ct.client}, ctx: ctx, slot: new(slot)})
	p.contest = ct
	ct.queue = append(ct.queue, p)
	return p
}

// woken reports whether p has been woken since it was last asked about.
func woken(p *place) bool {
	select {
	case <-p.wake:
		return true
	default:
		return false
	}
}

// Who leads and leaves has a place on the nodes, with a ticket, and has asked so many times: all of that is the next
// one's, or what the nodes were told before would count against it.
func TestWhoInheritsAPlaceHasAllOfIt(t *testing.T) {
	bg := context.Background()
	over, end := context.WithCancel(bg)
	end()
	c := &core{queuers: make(map[string]*place)}
	ct := &contest{client: c, key: contestKey{"lock:{orders}", shared}}
	leader, other := awaiting(bg, ct), awaiting(bg, ct)
	leaving, heir, last := awaiting(over, ct), awaiting(bg, ct), awaiting(bg, ct)
	for _, f := range []*place{leaving, heir, last} {
		f.follow(leader)
	}
	asked := time.Now().Add(-time.Second)
	opened := asked.Add(-time.Minute)
	leader.id, leader.ticket, leader.asked, leader.opened, leader.closed = "own:1", 7, asked, opened, true
	held := new(tenure)
	q := &queuer{call: leader.call, place: leader, tenure: held, ticket: lua.Ticket{Number: 7, Final: true}, round: 3}

	require.True(t, q.bequeath())
	require.Equal(t, heir, leaving.leader, "who gives up inherits nothing")
	require.Equal(t, heir, last.leader)
	require.Nil(t, heir.leader)
	require.Nil(t, other.estate, "it has a place of its own")
	require.Equal(t, "own:1", heir.id)
	require.Equal(t, int64(7), heir.ticket)
	require.Equal(t, asked, heir.asked)
	require.Equal(t, opened, heir.opened, "it is as old as before")
	require.True(t, heir.closed)
	require.Equal(t, map[string]*place{"own:1": heir}, c.queuers, "what the nodes tell of it is for the heir")
	require.Empty(t, leader.id)
	require.True(t, woken(heir), "what was told to the leader may have been lost with it")
	require.True(t, heir.look)
	require.False(t, woken(last))

	next := &queuer{call: heir.call, place: heir}
	require.False(t, next.follows(), "it asks for itself")
	require.Equal(t, held, next.tenure)
	require.Equal(t, heir.call.slot, held.first.slot, "what is granted is for the heir's owner")
	require.Equal(t, q.ticket, next.ticket)
	require.Equal(t, q.round, next.round)
	require.Nil(t, heir.estate)

	last.follow(nil)
	leaving.follow(nil)
	require.False(t, next.bequeath(), "nobody follows it")
}

// Whoever has room to ask, and gives up instead, leaves it to others.
func TestWhoGivesUpBeforeItAsksGivesItsRoomBack(t *testing.T) {
	room := make(chan struct{}, 1)
	room <- struct{}{}
	q := &queuer{call: new(call), admitted: room}
	require.Nil(t, q.leave())
	require.Empty(t, room)
	require.Nil(t, q.leave())
}

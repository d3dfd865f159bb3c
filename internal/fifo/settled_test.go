package fifo_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPlaceIsFixedOnceNoGreaterProposalCanCome(t *testing.T) {
	at := func(ticket int64) []fifo.Place { return []fifo.Place{{Hold: "ann", Ticket: ticket}} }
	var without []fifo.Place
	for _, c := range []struct {
		name   string
		queues [][]fifo.Place
		fixed  bool
	}{
		{"all agree", [][]fifo.Place{at(1), at(1), at(1)}, true},
		{"a quorum has the greatest", [][]fifo.Place{at(7), at(2), at(7)}, true},
		{"the greatest is a minority's", [][]fifo.Place{at(1), at(1), at(2)}, false},
		{"a node may still propose more", [][]fifo.Place{at(1), at(1), without}, false},
		{"one of three is down", [][]fifo.Place{at(1), at(1)}, true},
		{"one of three is down, and the others differ", [][]fifo.Place{at(1), at(2)}, false},
		{"nobody waits", [][]fifo.Place{without, without, without}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.fixed, len(fifo.Settled(c.queues, 2)) == 1)
		})
	}
}

func TestPlacesAreToldInTheOrderInWhichTheyStand(t *testing.T) {
	queue := []fifo.Place{{Hold: "bob", Ticket: 1}, {Hold: "ann", Ticket: 2}}
	require.Equal(t, []string{"bob", "ann"}, fifo.Settled([][]fifo.Place{queue}, 1))
}

func TestWatcherNotesWhoHasAPlaceOnTheNodesThatAnswer(t *testing.T) {
	servers := redistest.StartN(t, 3)
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	var r fifo.Recorder
	ann := r.Begin("ann")
	ann.Wait("client:1")

	enqueue := lua.FairAcquire{
		Fair: lua.Fair{Keys: keys, Life: time.Minute},
		Hold: "client:1", TTL: time.Minute, Retention: time.Hour, Wait: true,
	}.Call()
	for _, s := range servers[:2] {
		c := s.Client(t)
		require.NoError(t, c.HSet(t.Context(), keys.Lock, "a holder", 1).Err())
		_, err := enqueue.Run(t.Context(), c)
		require.NoError(t, err)
	}
	nodes := redistest.Clients(t, servers)
	require.Empty(t, fifo.Settled(fifo.Look(t.Context(), keys, nodes), 2), "the third may propose more")

	servers[2].Kill()
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.Watch(ctx, keys, nodes, time.Millisecond)
	}()
	redistest.Eventually(t, 15*time.Second, func() bool { return r.Waiters()[0].Ended > 0 }, "ann has her place")
	stop()
	<-stopped
}

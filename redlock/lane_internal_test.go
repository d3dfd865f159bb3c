package redlock

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// idleLane is a lane of a node that is met, without runners.
func idleLane(t *testing.T) *lane {
	g := &Group{quorum: 1, nodes: make([]*node, 1), ctx: context.Background()}
	g.config = Config{NodeTimeout: time.Second, Logger: slog.New(slog.DiscardHandler), Back: func() {}}
	n := &node{group: g, quiet: ErrSilent}
	g.nodes[0] = n
	n.identified.Store(true)
	l := &lane{node: n, timeout: time.Second, window: nearAir(2), wake: make(chan struct{}, 1), stop: make(chan struct{})}
	n.lane = l
	l.sweeper = time.AfterFunc(time.Hour, l.sweep)
	l.sweeper.Stop()
	l.pending.init(l)
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.sweeper.Stop()
		l.pending.stop()
	})
	return l
}

// opOf is the only op of a ballot about m.
func (l *lane) opOf(m Motion) *op {
	b := &Ballot{group: l.node.group, start: time.Now(), motion: m}
	b.motion.Footprint = l.node.group.NewFootprint()
	b.ops = []op{{ballot: b, lane: l, expires: time.Now().Add(l.timeout)}}
	return &b.ops[0]
}

func (l *lane) removal() *op {
	o := l.opOf(Motion{Removes: true, Until: time.Now().Add(time.Hour)})
	o.ballot.motion.Footprint.traces[0].present = true
	return o
}

// The pause before what is owed is tried again grows while it fails, and is short again for a new failure. However much is
// owed at once has one pause.
func TestThePauseOfWhatIsOwedGrowsWhileItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := idleLane(t)
		owe := func(n int) (pause time.Duration) {
			now := time.Now()
			require.True(t, l.pend(l.removal()))
			due := l.pending.due
			for range n - 1 {
				time.Sleep(time.Millisecond)
				require.True(t, l.pend(l.removal()))
			}
			require.Equal(t, due, l.pending.due)
			require.Len(t, l.pending.ops, n)
			l.pending.stop()
			l.pending.due = time.Time{}
			time.Sleep(time.Until(due))
			return due.Sub(now)
		}
		require.LessOrEqual(t, owe(20), 2*minPause)
		require.LessOrEqual(t, owe(1), 3*minPause)
		for range 10 {
			owe(1)
		}
		require.GreaterOrEqual(t, owe(1), maxPause/2)
		time.Sleep(3*maxPause + 1)
		require.LessOrEqual(t, owe(1), 2*minPause)

		for range 10 {
			owe(1)
		}
		l.pending.ops = []*op{l.opOf(Motion{Removes: true})} // which is too late, so that nothing is sent
		l.hasten()
		synctest.Wait()
		require.LessOrEqual(t, owe(1), 2*minPause, "as if nothing had been owed for a while")

		l.pending.wake(time.Now(), time.Second)
		due := l.pending.due
		l.pending.wake(time.Now(), time.Minute)
		require.Equal(t, due, l.pending.due, "it is not put off")
		l.closed = true
		require.False(t, l.pend(l.removal()))
	})
}

// What is tried again is a new try in everything but that: it may have been made before.
func TestWhatIsTriedAgainBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := idleLane(t)
		o, over := l.removal(), l.removal()
		o.moves, o.asking, o.stray, o.narrow, o.halved, o.apart = 4, true, true, true, true, true
		over.ballot.motion.Until, over.counted, l.pending.open = time.Now(), l.pending.count, 1
		l.pending.ops = []*op{o, over}
		time.Sleep(time.Minute)
		l.collect()
		require.Equal(t, []*op{o}, l.queue)
		require.Equal(t, time.Now().Add(l.timeout), o.expires)
		require.True(t, o.again)
		require.Zero(t, o.moves)
		for _, kept := range []bool{o.asking, o.stray, o.narrow, o.halved, o.apart} {
			require.False(t, kept)
		}
		require.Zero(t, l.pending.open)
		require.Zero(t, l.pending.moving)
	})
}

// The slot of what is owed may have moved meanwhile: the Cluster is asked where it is. So is that of what comes to a lane
// that was closed as nobody needed it.
func TestWhatALaneDoesNotSendGoesByTheCluster(t *testing.T) {
	for what, put := range map[string]func(l *lane, o *op){
		"owed":    func(l *lane, o *op) { l.pending.ops = []*op{o}; l.collect() },
		"retired": func(l *lane, o *op) { l.closed, l.retired = true, true; l.submit(o) },
	} {
		shard, cluster := idleLane(t), idleLane(t)
		cluster.node.shards = &shards{node: cluster.node}
		cluster.node.identified.Store(false)
		shard.node.of = cluster.node
		o := shard.removal()
		put(shard, o)
		require.Empty(t, shard.queue, what)
		require.Equal(t, []*op{o}, cluster.queue, what)
	}
}

// Only what may come for as long as the node is silent counts, and once.
func TestWhatMayComeForLongIsCountedOnce(t *testing.T) {
	l := idleLane(t)
	for _, c := range []struct {
		removes bool
		trace   trace
		counts  int
	}{
		{true, trace{present: true}, 0},
		{true, trace{flying: 1}, 1},
		{true, trace{unknown: true}, 1},
		{true, trace{present: true, late: true}, 1},
		{false, trace{flying: 1}, 0},
	} {
		l.pending.open = 0
		o := l.opOf(Motion{Removes: c.removes})
		o.ballot.motion.Footprint.traces[0] = c.trace
		l.pending.note(o)
		l.pending.note(o)
		require.Equal(t, c.counts, l.pending.open, "%+v", c)
	}
}

// Settle waits for what the node may soon confirm, and for nothing else; without time it sends nothing.
func TestWhatANodeMaySoonConfirm(t *testing.T) {
	for what, c := range map[string]struct {
		do   func(l *lane)
		owes bool
	}{
		"nothing":           {func(*lane) {}, false},
		"pending":           {func(l *lane) { l.pending.ops = []*op{l.removal()} }, true},
		"on its way":        {func(l *lane) { l.pending.moving = 1 }, true},
		"queued":            {func(l *lane) { l.busy, l.queue = 1, []*op{l.removal()} }, true},
		"prepared":          {func(l *lane) { l.queue = []*op{l.removal()} }, false},
		"in flight":         {func(l *lane) { l.window.depart([]*op{l.removal()}) }, true},
		"a creation":        {func(l *lane) { l.window.depart([]*op{l.opOf(Motion{Creates: true})}) }, false},
		"in a stuck flight": {func(l *lane) { l.window.stick(l.window.depart([]*op{l.removal()})) }, false},
		"out of reach":      {func(l *lane) { l.pending.ops, l.unreachable = []*op{l.removal()}, true }, false},
	} {
		l := idleLane(t)
		c.do(l)
		require.Equal(t, c.owes, l.owes(), what)
	}
	l := idleLane(t)
	l.pending.ops = []*op{l.removal()}
	l.pending.due = time.Now().Add(time.Hour)
	due := l.pending.due
	l.node.group.Settle(0)
	require.Equal(t, due, l.pending.due)
}

// How a flight has ended tells whether the node is down, and out of reach. One that was stuck tells nothing of now.
func TestHowAFlightEndsTellsOfItsNode(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	broken := &net.OpError{Op: "read", Err: errors.New("reset")}
	type state struct{ failing, down, unreachable bool }
	for what, c := range map[string]struct {
		before  state
		end     landing
		silence error
		stuck   bool
		after   state
	}{
		"answered":               {state{}, answered, nil, false, state{}},
		"answered again":         {state{true, true, true}, answered, nil, false, state{}},
		"nobody listens":         {state{}, failed, refused, false, state{true, true, true}},
		"it broke":               {state{}, failed, broken, false, state{true, true, false}},
		"it broke, out of reach": {state{true, true, true}, failed, broken, false, state{true, true, false}},
		"refused":                {state{}, failed, nil, false, state{true, false, false}},
		"stuck, answered":        {state{true, true, true}, answered, nil, true, state{false, true, true}},
		"stuck, broke":           {state{}, failed, broken, true, state{true, false, false}},
	} {
		l := idleLane(t)
		l.failing, l.unreachable = c.before.failing, c.before.unreachable
		if c.before.down {
			l.down(ErrSilent)
		}
		f := l.window.depart([]*op{l.removal()})
		if c.stuck {
			l.window.stick(f)
			l.stuck = 1
		}
		f.answered, f.silence = c.silence == nil, c.silence
		f.moves = []move{{l.removal(), l}}
		l.land(f, c.end)
		require.Equal(t, c.after, state{l.failing, l.isDown(), l.unreachable}, what)
		require.Zero(t, l.stuck, what)
		require.Equal(t, 1, l.pending.moving, what)
		require.Equal(t, c.end == failed || c.after.failing, l.ails(), what)
	}
	l := idleLane(t)
	l.stuck = 1
	require.True(t, l.ails())
}

// go-redis dials a server that refuses connections for longer than a command is waited for. Whoever hears nothing is told
// nevertheless that nobody listens there, once that is known and as long as it is so. It stays silence: an i/o timeout
// would be taken for the end of the caller's context.
func TestSilenceIsExplained(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	late := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	broken := &net.OpError{Op: "read", Err: errors.New("reset")}
	for what, c := range map[string]struct {
		silence error
		stuck   bool // nobody waits for it any more
		back    bool // the node has answered meanwhile
		says    string
	}{
		"nobody listens":            {refused, false, false, "no answer within the node timeout: dial: connection refused"},
		"nobody listens, in time":   {refused, true, false, "no answer within the node timeout: dial: connection refused"},
		"nobody answers":            {late, true, false, "no answer within the node timeout: dial: context deadline exceeded"},
		"it broke":                  {broken, false, false, "no answer within the node timeout"},
		"nobody listened, but does": {refused, true, true, "no answer within the node timeout"},
	} {
		l := idleLane(t)
		f := l.window.depart([]*op{l.removal()})
		if c.stuck {
			l.window.stick(f)
			l.stuck = 1
			l.down(ErrSilent)
		}
		if c.back {
			l.back()
		}
		f.silence = c.silence
		l.land(f, failed)
		err := l.node.silent()
		require.EqualError(t, err, c.says, what)
		f = l.window.depart([]*op{l.removal()})
		f.silence = broken
		l.land(f, failed)
		require.Equal(t, ErrSilent, l.node.silent(), "%s; then it accepted a connection", what)
		f = l.window.depart([]*op{l.removal()})
		f.silence = c.silence
		l.land(f, failed)
		require.ErrorIs(t, err, ErrSilent, what)
		require.NotErrorIs(t, err, context.DeadlineExceeded, what)

		f = l.window.depart([]*op{l.removal()})
		f.answered = true
		l.land(f, answered)
		require.Equal(t, ErrSilent, l.node.silent(), what)
	}
}

// Once nothing of a flight is waited for any more its node is down: the caller on whose goroutine it is leaves, whoever
// settles does not wait, and who is told of a timeout hears that, too.
func TestAStuckFlightIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := idleLane(t)
		downs := 0
		late, dropped := l.removal(), l.removal()
		for _, o := range []*op{late, dropped} {
			o.ballot.motion.Missed = func(_ int, _ Answer, down bool) {
				require.True(t, down)
				downs++
			}
			o.ballot.motion.Yes = func(any) (bool, error) { return true, nil }
		}
		f := l.window.depart([]*op{late})
		f.here = true
		l.busy, l.queue = 1, []*op{dropped}
		over, settled := make(chan struct{}), make(chan struct{})
		l.over, l.pending.settled = over, settled
		l.closed = true // so that no other runner passes it
		l.closed = false
		l.busy = maxTries // as many as there may be
		time.Sleep(l.timeout)
		l.sweep()
		require.True(t, f.stuck)
		require.True(t, l.unreachable)
		require.True(t, l.isDown())
		require.Equal(t, 2, downs)
		require.Len(t, l.pending.ops, 1, "what was dropped is owed")
		select {
		case <-over:
		default:
			t.Fatal("the caller waits")
		}
		select {
		case <-settled:
		default:
			t.Fatal("Settle waits")
		}
	})
}

// A command may wait longer to be sent to a node that answers others, and no longer to one that is stuck.
func TestWhatIsUnsentHasMoreTimeIfTheNodeAnswers(t *testing.T) {
	for _, stuck := range []int{0, 1} {
		l := idleLane(t)
		o := l.opOf(Motion{Unsent: time.Hour})
		o.expires = time.Now().Add(-1)
		l.queue, l.stuck, l.busy = []*op{o}, stuck, maxTries
		l.sweep()
		require.Equal(t, stuck == 1, o.answer.Vote == No)
		require.Len(t, l.queue, 1-stuck)
	}
}

// A lane that was closed while its node was down says so.
func TestAClosedLaneSaysWhetherItsNodeIsDown(t *testing.T) {
	for _, down := range []bool{true, false} {
		l := idleLane(t)
		if down {
			l.down(ErrSilent)
		}
		l.closed = true
		var told []bool
		o := l.opOf(Motion{Missed: func(_ int, a Answer, down bool) {
			require.ErrorIs(t, a.Err, ErrClosed)
			told = append(told, down)
		}})
		l.submit(o)
		require.Equal(t, []bool{down}, told)
	}
}

// A lane is closed only if it is needed by nobody, and has not been for a while.
func TestALaneThatIsNeededIsNotRetired(t *testing.T) {
	since := time.Now().Add(-idleShard)
	for what, need := range map[string]func(l *lane){
		"nobody":   func(*lane) {},
		"closed":   func(l *lane) { l.closed = true },
		"busy":     func(l *lane) { l.busy = 1 },
		"seeking":  func(l *lane) { l.seeking = true },
		"moving":   func(l *lane) { l.pending.moving = 1 },
		"queued":   func(l *lane) { l.queue = []*op{l.removal()} },
		"pending":  func(l *lane) { l.pending.ops = []*op{l.removal()} },
		"young":    func(l *lane) { l.made = time.Now() },
		"was used": func(l *lane) { l.window.last = time.Now() },
	} {
		l := idleLane(t)
		l.made, l.window.last = since.Add(-1), since.Add(-1)
		need(l)
		require.Equal(t, what == "nobody", l.retire(since), what)
	}
}

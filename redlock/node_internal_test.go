package redlock

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

type refused string

func (r refused) Error() string { return string(r) }
func (refused) RedisError()     {}

var errNobody = errors.New("nobody is there")

// nobody is a client that reaches nothing.
func nobody(t *testing.T) *redis.Client {
	c := redis.NewClient(&redis.Options{MaxRetries: -1, DialerRetries: 1, Dialer: func(context.Context, string, string) (net.Conn, error) {
		return nil, errNobody
	}})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A refusal is an answer. A connection that led to another node's server takes the node its vote until it is met again.
func TestWhatANodeAnswersTellsOfItsFlight(t *testing.T) {
	land := func(err error) (*node, *flight) {
		o, n, _ := onlyOp(Motion{})
		n.handshaking = make(chan struct{}, 1)
		n.identified.Store(true)
		f := new(flight)
		require.Equal(t, err == nil, n.land(f, o, "yes", err) == answered)
		return n, f
	}
	_, f := land(nil)
	require.True(t, f.answered)
	n, f := land(oom{})
	require.True(t, f.answered)
	require.NoError(t, f.silence)
	require.True(t, n.known())
	n, f = land(errNobody)
	require.False(t, f.answered)
	require.ErrorIs(t, f.silence, errNobody)
	require.True(t, n.known())
	duplicate := &duplicateError{"a", "b"}
	n, _ = land(duplicate)
	require.False(t, n.known())
	require.ErrorIs(t, n.handshake(context.Background()), duplicate, "it is not asked again at once")
}

// A command that a server did not do, and that goes on elsewhere, is under way no more.
func TestWhatGoesOnElsewhereIsNotUnderWay(t *testing.T) {
	o, n, _ := onlyOp(Motion{Creates: true, Narrow: func() lua.Call { return lua.Call{} }})
	n.shards = new(shards)
	o.call()
	f := new(flight)
	require.Equal(t, answered, n.land(f, o, nil, tryAgain{}))
	require.Equal(t, []move{{o, n.lane}}, f.moves)
	require.Equal(t, "nothing", left(o))
}

// A refused node is asked again after a pause, and what it says then counts.
func TestARefusedNodeIsAskedAgainAfterAPause(t *testing.T) {
	g, err := New([]redis.UniversalClient{nobody(t)}, Config{NodeTimeout: time.Second})
	require.NoError(t, err)
	defer g.Close()
	n := g.nodes[0]
	n.refused, n.refusedAt = ErrUnfit, time.Now()
	require.ErrorIs(t, n.handshake(context.Background()), ErrUnfit)
	n.refusedAt = time.Now().Add(-handshakeAgain)
	for range 2 {
		require.ErrorIs(t, n.handshake(context.Background()), errNobody)
		n.refusedAt = time.Now()
	}
}

// Whoever waits for a connection learns only that its time is over: for a Sentinel, for instance, that tells no master.
func TestAHandshakeThatTakesTooLongWasNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := redis.NewClient(&redis.Options{
			DialerRetries: 1,
			Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			// It looks the address up in DNS, for which tests in several bubbles would share a channel.
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		defer time.Sleep(client.Options().DialTimeout) // go-redis dials for so long, whoever waits
		defer client.Close()
		g, err := New([]redis.UniversalClient{client}, Config{NodeTimeout: time.Second})
		require.NoError(t, err)
		defer g.Close()
		require.ErrorIs(t, g.nodes[0].handshake(context.Background()), ErrSilent)
		brief, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, g.nodes[0].handshake(brief), context.DeadlineExceeded, "which is the caller's")
	})
}

// A dial that took too long, or was given up, fails with a context's error. The caller's own has not ended.
func TestTheErrorOfANodeIsNoContexts(t *testing.T) {
	for _, err := range []error{&net.OpError{Op: "dial", Err: context.DeadlineExceeded}, context.Canceled} {
		o, n, got := onlyOp(Motion{})
		o.settle(n, nil, err)
		for _, ended := range []error{o.answer.Err, got.answered[0].Err, got.missed[0].Err} {
			require.ErrorContains(t, ended, err.Error())
			require.NotErrorIs(t, ended, context.DeadlineExceeded)
			require.NotErrorIs(t, ended, context.Canceled)
		}
	}
	o, n, _ := onlyOp(Motion{})
	o.settle(n, nil, context.DeadlineExceeded)
	require.ErrorIs(t, o.answer.Err, ErrSilent, "it was asked")
}

// What this process does itself is no outage, and a closed client is one for good.
func TestWhatIsAnOutage(t *testing.T) {
	for _, err := range []error{nil, oom{}, context.Canceled, redis.ErrClosed} {
		require.False(t, isOutage(err), "%v", err)
	}
	for _, err := range []error{errNobody, ErrSilent, context.DeadlineExceeded} {
		require.True(t, isOutage(err), "%v", err)
	}
	require.True(t, isFinal(redis.ErrClosed))
	require.False(t, isFinal(errNobody))
	require.Equal(t, 4, connections(10, 4))
	require.Equal(t, 10, connections(10, 40))
	require.Equal(t, 10, connections(10, 0))
}

// A lane that is over says nothing of its node, and the log has nothing of a node that was never met. Once a master is
// back nobody asks its replica.
func TestWhatIsRecordedOfAnOutage(t *testing.T) {
	for what, c := range map[string]struct {
		change       func(l *lane)
		down, logged bool
	}{
		"an outage": {func(*lane) {}, true, true},
		"never met": {func(l *lane) { l.node.identified.Store(false) }, true, false},
		"closed":    {func(l *lane) { l.closed = true }, false, false},
		"group is over": {func(l *lane) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			l.node.group.ctx = ctx
		}, false, false},
	} {
		l, log := idleLane(t), new(bytes.Buffer)
		l.node.group.config.Logger = slog.New(slog.NewTextHandler(log, nil))
		c.change(l)
		l.down(ErrSilent)
		require.Equal(t, c.down, l.isDown(), what)
		require.Equal(t, c.logged, log.Len() > 0, what)
		l.replica.Store(idleLane(t))
		l.back()
		require.False(t, l.isDown(), what)
		require.Equal(t, c.down, l.replica.Load() == nil, what)
	}
}

// A caller sends its command itself only if it can wait for the node, and the node is well and has nothing else to do.
func TestWhenACallerSendsItself(t *testing.T) {
	far := func(l *lane) { l.window.width = 4 }
	for what, c := range map[string]struct {
		change func(l *lane)
		time   time.Duration
		done   dispatch
	}{
		"it may":            {func(*lane) {}, time.Hour, ran},
		"far":               {far, time.Hour, ran},
		"its time is short": {func(*lane) {}, time.Second / 2, undone},
		"failing":           {func(l *lane) { l.failing = true }, time.Hour, undone},
		"not met":           {func(l *lane) { l.node.identified.Store(false) }, time.Hour, undone},
		"some are prepared": {func(l *lane) { l.queue = []*op{l.opOf(Motion{})} }, time.Hour, ran},
		"and it is far":     {func(l *lane) { far(l); l.queue = []*op{l.opOf(Motion{})} }, time.Hour, undone},
		"many are prepared": {func(l *lane) {
			for range maxHere + 1 {
				l.queue = append(l.queue, l.opOf(Motion{}))
			}
		}, time.Hour, undone},
	} {
		l := idleLane(t)
		l.node.quick = nobody(t)
		l.node.client = l.node.quick
		c.change(l)
		ctx, cancel := context.WithTimeout(context.Background(), c.time)
		require.Equal(t, c.done, l.runHere(ctx, l.opOf(Motion{})), what)
		cancel()
	}
}

// A flight that passes a stuck one carries little, and what it carries may be away for long. A crowd has more time.
func TestWhatARunnerTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := func(l *lane, n int) {
			for range n {
				o := l.opOf(Motion{Removes: true, Unsent: time.Hour})
				o.ballot.motion.Footprint.traces[0].unknown = true
				l.queue = append(l.queue, o)
			}
		}
		l := idleLane(t)
		queue(l, 100)
		l.busy, l.stuck = 2, 1
		require.Len(t, l.take().ops, maxTry)
		require.Equal(t, maxTry, l.pending.open)
		require.Len(t, l.queue, 100-maxTry)
		l.sweeper.Stop()

		for _, n := range []int{maxTry, 100} {
			l = idleLane(t)
			queue(l, n)
			l.busy = 1
			time.Sleep(time.Millisecond)
			f := l.take()
			require.Len(t, f.ops, n)
			expires := time.Now().Add(l.timeout)
			if n > maxTry {
				expires = expires.Add(time.Duration(n) * workTime)
			}
			for _, o := range f.ops {
				require.Equal(t, expires, o.expires)
			}
			require.Equal(t, expires, l.sweepAt)
			require.Zero(t, l.pending.open)
			l.sweeper.Stop()
		}
	})
}

// A connection is one of the client's that sends.
func TestAConnectionOfAnotherClientIsNotUsed(t *testing.T) {
	one, other := nobody(t), nobody(t)
	now := time.Now()
	kept := one.Conn()
	s := sticky{conn: kept, client: one, taken: now, used: now, row: steadily}
	conn, stale := s.take(&node{client: other}, other, now)
	require.Nil(t, conn)
	require.Same(t, kept, stale)
	putBack(stale)
}

// ofCluster is a Cluster with a master for each of clients.
func ofCluster(t *testing.T, clients ...*redis.Client) (s *shards, lanes []*lane) {
	cluster := idleLane(t)
	s = newShards(cluster.node, nil)
	cluster.node.shards = s
	for i, c := range clients {
		l := idleLane(t)
		l.node.of, l.node.address, l.node.group = cluster.node, string(rune('a'+i)), cluster.node.group
		s.lanes[c], s.byAddress[l.node.address] = l, l
		lanes = append(lanes, l)
	}
	return s, lanes
}

// Lanes that nobody has used are retired with all that leads to them, and joined later.
func TestARetiredLaneIsLookedForNowhere(t *testing.T) {
	one, other := nobody(t), nobody(t)
	s, lanes := ofCluster(t, one, other)
	old := time.Now().Add(-2 * idleShard)
	lanes[0].made, lanes[0].window.last = old, old
	lanes[1].made = time.Now()
	lanes[1].replica.Store(lanes[0])
	s.retire()
	require.Equal(t, map[*redis.Client]*lane{other: lanes[1]}, s.lanes)
	require.Equal(t, map[string]*lane{"b": lanes[1]}, s.byAddress)
	require.Nil(t, lanes[1].replica.Load())
	require.Equal(t, []*lane{lanes[0]}, s.retired)
	require.ElementsMatch(t, lanes, s.close())
	require.True(t, lanes[1].closed)
	require.Same(t, s.node.lane, s.laneOf(one), "there are no new ones")

	s, lanes = ofCluster(t, one)
	lanes[0].made, lanes[0].window.last = old, old
	s.byAddress["a"] = idleLane(t) // another has its address by now
	s.retire()
	require.Empty(t, s.lanes)
	require.Contains(t, s.byAddress, "a")
}

// A command without a key goes to a master that is met and well, or by the Cluster's own lane.
func TestACommandWithoutAKeyGoesToAMasterThatIsWell(t *testing.T) {
	s, lanes := ofCluster(t, nobody(t), nobody(t), nobody(t))
	lanes[0].node.identified.Store(false)
	lanes[1].failing = true
	for range 20 {
		require.Same(t, lanes[2], s.any())
	}
	lanes[2].stuck = 1
	for range 20 {
		require.Same(t, s.node.lane, s.any())
	}
}

// A Cluster can vote without a master that is away, but not if one says that it never can.
func TestAMasterThatCanNeverVoteIsNotMerelyMissing(t *testing.T) {
	one, other := nobody(t), nobody(t)
	for _, why := range []error{ErrUnfit, &duplicateError{"a", "b"}, refused("NOPERM no")} {
		s, lanes := ofCluster(t, one, other)
		err := s.outcome(context.Background(), []*redis.Client{one, other}, map[*lane]error{lanes[0]: nil, lanes[1]: why})
		require.ErrorIs(t, err, why)
	}
	s, _ := ofCluster(t, one, other)
	require.ErrorIs(t, s.outcome(context.Background(), []*redis.Client{one, other}, nil), ErrSilent)
}

// The servers of a Cluster are one node's, and those of another node are not.
func TestTheServersOfAClusterAreOneNodes(t *testing.T) {
	s, lanes := ofCluster(t, nobody(t), nobody(t))
	g := s.node.group
	g.identities = make(map[string]*node)
	require.NoError(t, g.register(lanes[0].node, "id"))
	require.NoError(t, g.register(lanes[1].node, "id"), "which has taken over its address")
	require.NoError(t, g.register(s.node, "id"))
	require.ErrorIs(t, g.register(&node{group: g}, "id"), ErrDuplicateNode)
}

// Who asks a Sentinel or a Cluster for the master reaches it sooner or later.
func TestOnlyAPlainReplicaIsUnfit(t *testing.T) {
	role := map[string]string{"role": "slave"}
	plain := &node{client: nobody(t)}
	require.ErrorIs(t, plain.fit(nil, role), ErrUnfit)
	require.NoError(t, plain.fit(nil, map[string]string{"role": "master"}))
	require.NoError(t, (&node{client: nobody(t), of: new(node)}).fit(nil, role))
	sentinel := redis.NewClient(&redis.Options{Addr: failover})
	defer sentinel.Close()
	require.NoError(t, (&node{client: sentinel}).fit(nil, role))
}

type replies struct{ err error }

func (r replies) Process(context.Context, redis.Cmder) error { return r.err }

// A server that tells nothing of itself may vote, but not one that is not ready to tell.
func TestAServerThatIsLoadingHasNotRefusedToTell(t *testing.T) {
	_, err := info(context.Background(), replies{refused("NOPERM no")}, "server")
	require.NoError(t, err)
	for _, why := range []error{refused("LOADING Redis is loading"), errNobody} {
		_, err = info(context.Background(), replies{why}, "server")
		require.ErrorIs(t, err, why)
	}
}

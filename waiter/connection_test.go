package waiter_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/waiter"
)

func TestEveryoneLooksAgainAfterAConnectionWasMadeAnew(t *testing.T) {
	t.Parallel()
	_, clients := start(t, 3)
	h := newHub(t, clients...)
	_, orders := listen(t, h, "orders")
	_, payments := listen(t, h, "payments")
	everywhere(t, clients, "orders")
	everywhere(t, clients, "payments")
	require.Empty(t, orders.all())
	for round := range 3 {
		killed, err := clients[round].(*redis.Client).ClientKillByFilter(bg, "TYPE", "pubsub").Result()
		require.NoError(t, err)
		require.EqualValues(t, 1, killed)
		redistest.Eventually(t, within, func() bool { return orders.count("") > round && payments.count("") > round }, "round %d", round)
	}
	everywhere(t, clients, "orders")
	for _, c := range clients[:2] {
		publish(t, c, "orders", "release")
	}
	orders.waitFor(t, "release")
	require.Zero(t, payments.count("release"))
}

func TestRestartedNodeIsListenedToAgain(t *testing.T) {
	t.Parallel()
	servers, clients := start(t, 1)
	h := newHub(t, clients...)
	_, e := listen(t, h, "orders")
	servers[0].Kill()
	servers[0].Start()
	e.waitFor(t, "")
	publish(t, clients[0], "orders", "release")
	e.waitFor(t, "release")
}

// A failover leaves subscriptions at a server that is up, if that was merely cut off from those who decided it: commands go to
// another, where nobody would hear what is published.
func TestSubscriptionsFollowCommandsToAnotherServer(t *testing.T) {
	t.Parallel()
	servers := []*redistest.Server{redistest.Start(t), redistest.Start(t)}
	var at atomic.Int32
	client := redis.NewClient(&redis.Options{Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, servers[at.Load()].Addr())
	}})
	t.Cleanup(func() { _ = client.Close() })
	h := newHub(t, client)
	_, e := listen(t, h, "orders")
	old := servers[0].Client(t)
	at.Store(1)
	_, err := old.ClientKillByFilter(bg, "TYPE", "normal", "SKIPME", "yes").Result()
	require.NoError(t, err)
	redistest.Eventually(t, soon, func() bool {
		publish(t, client, "orders", "release")
		return e.count("release") > 0
	}, "it is heard where commands are sent")
	require.Zero(t, listeners(t, old, "orders"))
}

func TestConnectionThatDiedInSilenceIsReplaced(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr())
	h := newHub(t, proxy.Client(t))
	_, e := listen(t, h, "orders")
	proxy.Blackhole(true)
	proxy.Blackhole(false)
	e.waitFor(t, "") // after four seconds: a ping, and no pong
	c := s.Client(t)
	publish(t, c, "orders", "release")
	e.waitFor(t, "release")
	proxy.Reset()
}

// A node that is stopped takes new connections, and answers none.
func TestSubscriptionsOfAStoppedNodeAreLoggedOnceAsDead(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr())
	var log bytes.Buffer // read when the hub is closed
	h := waiter.New([]redis.UniversalClient{proxy.Client(t)}, 1, slog.New(slog.NewTextHandler(&log, nil)))
	_, e := listen(t, h, "orders")
	greetings := func() int {
		return proxy.Commands(func(cmd []string) bool { return strings.EqualFold(cmd[0], "hello") })
	}
	before := greetings()
	s.Pause()
	redistest.Eventually(t, within, func() bool { return greetings() >= before+8 }, "it connects again and again")
	s.Resume()
	e.waitFor(t, "")
	h.Close()
	require.Equal(t, 1, strings.Count(log.String(), "subscription connection is dead"), log.String())
}

func TestStoppedNodeIsListenedToAgain(t *testing.T) {
	t.Parallel()
	servers, clients := start(t, 3)
	h := newHub(t, clients...)
	_, e := listen(t, h, "orders")
	everywhere(t, clients, "orders")
	servers[0].Pause()
	for _, c := range clients[1:] {
		publish(t, c, "orders", "release")
	}
	e.waitFor(t, "release") // a quorum without it
	_, late := listen(t, h, "payments")
	for _, c := range clients[1:] {
		publish(t, c, "payments", "release")
	}
	late.waitFor(t, "release") // nobody waits for its confirmation
	servers[0].Resume()
	everywhere(t, clients[:1], "payments")
}

func TestOneConnectionPerNodeHoweverManyListen(t *testing.T) {
	t.Parallel()
	const channels, listeners = 1000, 10_000
	_, clients := start(t, 3)
	h := newHub(t, clients...)
	var woken atomic.Int64
	subscriptions := make([]*waiter.Subscription, listeners)
	for i := range subscriptions {
		subscriptions[i] = h.Subscribe(fmt.Sprint("name ", i%channels), func(m string) {
			if m == "release" {
				woken.Add(1)
			}
		})
	}
	for _, s := range subscriptions {
		ready(t, s)
	}
	open := func(want int) func() bool {
		return func() bool {
			for _, c := range clients {
				if len(c.PubSubChannels(bg, "*").Val()) != want {
					return false
				}
			}
			return true
		}
	}
	redistest.Eventually(t, within, open(channels), "every node has subscribed each name once")
	for _, c := range clients {
		require.Equal(t, 1, connections(t, c))
		pipe := c.Pipeline()
		for i := range channels {
			pipe.Publish(bg, fmt.Sprint("name ", i), "release")
		}
		_, err := pipe.Exec(bg)
		require.NoError(t, err)
	}
	redistest.Eventually(t, within, func() bool { return woken.Load() >= listeners }, "everyone is woken")
	for _, s := range subscriptions {
		s.Close()
	}
	redistest.Eventually(t, within, open(0), "nothing stays subscribed that nobody wants")
	for _, c := range clients {
		require.LessOrEqual(t, connections(t, c), 1)
	}
	// Twice unless nodes are a second behind: see TestManyMessagesOnOneChannelAreAllToldApart.
	require.LessOrEqual(t, woken.Load(), int64(len(clients)*listeners))
}

func TestNameThatIsWantedAgainAtOnceStaysSubscribed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	proxy := redistest.NewProxy(t, s.Addr())
	h := newHub(t, proxy.Client(t))
	for range 100 {
		sub, _ := listen(t, h, "orders")
		sub.Close()
	}
	require.Equal(t, 1, proxy.Commands(redistest.Command("SUBSCRIBE")))
	require.Zero(t, proxy.Commands(redistest.Command("UNSUBSCRIBE")))

	// And when it was just given up, it is confirmed anew.
	redistest.Eventually(t, within, func() bool { return proxy.Commands(redistest.Command("UNSUBSCRIBE")) == 1 }, "it is given up")
	_, e := listen(t, h, "orders")
	publish(t, s.Client(t), "orders", "release")
	e.waitFor(t, "release")
}

func TestCloseWaitsForNoNode(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	clients := redistest.Clients(t, servers, endless)
	clients = append(clients, redis.NewClient(&redis.Options{
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) { // hangs, as far as it may
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-t.Context().Done():
				return nil, net.ErrClosed
			}
		},
	}))
	t.Cleanup(func() { _ = clients[3].Close() })
	h := waiter.New(clients, 2, nil)
	s, e := listen(t, h, "orders")
	everywhere(t, clients[:3], "orders")
	servers[0].Pause()
	servers[1].Kill()
	closeInTime(t, h)
	h.Close() // again
	servers[0].Resume()

	s.Close()
	late := h.Subscribe("orders", e.wake)
	select {
	case <-late.Ready():
		t.Fatal("a closed hub confirms nothing")
	default:
	}
	late.Close()
	redistest.Eventually(t, within, func() bool { return connections(t, clients[2]) == 0 }, "the server sees the end of its connection")
}

func TestHubThatNobodyUsedOpensNothing(t *testing.T) {
	t.Parallel()
	_, clients := start(t, 1)
	h := waiter.New(clients, 1, nil)
	h.Close()
	require.Zero(t, connections(t, clients[0]))
}

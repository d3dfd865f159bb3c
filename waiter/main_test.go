package waiter_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/waiter"
)

// within bounds what should happen soon, on a busy machine.
const within = time.Minute

var bg = context.Background()

func TestMain(m *testing.M) { redistest.Main(m, redistest.IgnoreRedials()) }

// newHub makes a hub in which a quorum of nodes wakes. It is closed when t ends.
func newHub(t testing.TB, nodes ...redis.UniversalClient) *waiter.Hub {
	h := waiter.New(nodes, len(nodes)/2+1, nil)
	t.Cleanup(h.Close)
	return h
}

// An ear remembers what it was woken with.
type ear struct {
	mu    sync.Mutex
	heard []string
}

func (e *ear) wake(message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, message)
}

func (e *ear) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

func (e *ear) count(message string) (n int) {
	for _, m := range e.all() {
		if m == message {
			n++
		}
	}
	return n
}

func (e *ear) waitFor(t testing.TB, message string) {
	t.Helper()
	redistest.Eventually(t, within, func() bool { return e.count(message) > 0 }, "%q is heard", message)
}

// listen subscribes to a channel and waits until a quorum of nodes has confirmed it.
func listen(t testing.TB, h *waiter.Hub, channel string) (*waiter.Subscription, *ear) {
	t.Helper()
	e := new(ear)
	s := h.Subscribe(channel, e.wake)
	ready(t, s)
	return s, e
}

func ready(t testing.TB, s *waiter.Subscription) {
	t.Helper()
	select {
	case <-s.Ready():
	case <-time.After(within):
		t.Fatal("not confirmed")
	}
}

// everywhere waits until every node has subscribed a channel: Ready waits for a quorum.
func everywhere(t testing.TB, clients []redis.UniversalClient, channel string) {
	t.Helper()
	for i, c := range clients {
		redistest.Eventually(t, within, func() bool { return c.PubSubNumSub(bg, channel).Val()[channel] == 1 }, "node %d listens", i)
	}
}

// listeners counts the connections that are subscribed to channel at a server.
func listeners(t testing.TB, c redis.UniversalClient, channel string) int {
	t.Helper()
	n, err := c.PubSubNumSub(bg, channel).Result()
	require.NoError(t, err)
	return int(n[channel])
}

func publish(t testing.TB, c redis.UniversalClient, channel, message string) {
	t.Helper()
	require.NoError(t, c.Publish(bg, channel, message).Err())
}

// connections counts the Pub/Sub connections that a server has.
func connections(t testing.TB, c redis.UniversalClient) int {
	t.Helper()
	text, err := c.(*redis.Client).Do(bg, "CLIENT", "LIST", "TYPE", "pubsub").Text()
	require.NoError(t, err)
	return strings.Count(text, "id=")
}

// endless has a client wait for its server without end, so that a test need not tell whether
// somebody waits from how long it takes.
func endless(o *redis.Options) {
	o.ReadTimeout, o.WriteTimeout, o.DialTimeout = time.Hour, time.Hour, time.Hour
}

// closeInTime closes a hub whose nodes do not answer.
func closeInTime(t testing.TB, h *waiter.Hub) {
	t.Helper()
	closed := make(chan struct{})
	go func() {
		h.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(within):
		t.Fatal("Close waits for a node")
	}
}

func start(t testing.TB, n int) ([]*redistest.Server, []redis.UniversalClient) {
	t.Helper()
	servers := redistest.StartN(t, n)
	return servers, redistest.Clients(t, servers)
}

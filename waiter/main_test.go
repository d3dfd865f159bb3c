package waiter_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/waiter"
)

// within bounds what should happen soon, on a busy machine.
const within = 15 * time.Second

var bg = context.Background()

func TestMain(m *testing.M) {
	logging.Disable() // it tells of every connection that breaks
	goleak.VerifyTestMain(m, redistest.IgnoreRedials())
}

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

func publish(t testing.TB, c redis.UniversalClient, channel, message string) {
	t.Helper()
	require.NoError(t, c.Publish(bg, channel, message).Err())
}

var flushes atomic.Int64

// flush returns when all that nodes have published on a channel has been dealt with.
// A message of one node's own is behind all others of that node.
func flush(t testing.TB, clients []redis.UniversalClient, channel string, e *ear) {
	t.Helper()
	for _, c := range clients {
		message := fmt.Sprint("flush ", flushes.Add(1))
		publish(t, c, channel, message)
		e.waitFor(t, message)
	}
}

// connections counts the Pub/Sub connections that a server has.
func connections(t testing.TB, c redis.UniversalClient) int {
	t.Helper()
	text, err := c.(*redis.Client).Do(bg, "CLIENT", "LIST", "TYPE", "pubsub").Text()
	require.NoError(t, err)
	return strings.Count(text, "id=")
}

func start(t testing.TB, n int) ([]*redistest.Server, []redis.UniversalClient) {
	t.Helper()
	servers := redistest.StartN(t, n)
	return servers, redistest.Clients(t, servers)
}

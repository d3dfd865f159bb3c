package redistest

import (
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// within bounds what should happen soon, on a busy machine.
const within = time.Minute

// once is a client that does not retry, and waits no longer than it must on a busy machine.
func once(o *redis.Options) {
	o.MaxRetries = -1
	o.ReadTimeout = 2 * time.Second
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func faulty(t *testing.T) (*Server, *Proxy, *redis.Client) {
	s := Start(t)
	p := NewProxy(t, s.Addr())
	return s, p, p.Client(t, once)
}

func TestProxyForwards(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		s := Start(t)
		p := NewProxy(t, s.Addr())
		c := p.Client(t, func(o *redis.Options) { o.Protocol = protocol })

		big := string(make([]byte, 1<<20))
		require.NoError(t, c.Set(bg, "big", big, 0).Err())
		require.Equal(t, big, c.Get(bg, "big").Val())
		require.NoError(t, c.HSet(bg, "h", "f", "1").Err())
		require.Equal(t, map[string]string{"f": "1"}, c.HGetAll(bg, "h").Val())
		require.ErrorIs(t, c.Get(bg, "none").Err(), redis.Nil)
		require.Error(t, c.Incr(bg, "h").Err())

		cmds, err := c.Pipelined(bg, func(pipe redis.Pipeliner) error {
			for i := range 100 {
				pipe.Set(bg, "n", i, 0)
				pipe.Get(bg, "n")
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, "57", cmds[2*57+1].(*redis.StringCmd).Val())

		require.Equal(t, 101, p.Commands(Command("SET")))
		require.Equal(t, 103, p.Commands(Command("get", "HGETALL")))
		require.GreaterOrEqual(t, p.Commands(nil), 205)
	}
}

func TestServersEndReachesTheClient(t *testing.T) {
	s, p, c := faulty(t)
	require.NoError(t, c.Ping(bg).Err())
	s.Kill()
	require.ErrorIs(t, c.Ping(bg).Err(), io.EOF)
	Eventually(t, within, func() bool { return p.Connections() == 0 }, "the server's end reaches the client")
	s.Start()
	Eventually(t, within, func() bool { return c.Ping(bg).Err() == nil }, "the restarted server answers")
	Eventually(t, within, func() bool { return p.Connections() == 1 }, "one connection is enough")

	p.Close()
	require.Zero(t, p.Connections())
	require.Error(t, c.Ping(bg).Err())
	p.Close()
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr())
	wires := make([]*wire, 20)
	for i := range wires {
		wires[i] = dial(t, p)
		require.Equal(t, "PONG", wires[i].do("PING").text)
	}
	p.Hold(Command("SET"), 1)
	wires[0].write("SET", "k", "v")
	swallow := p.SwallowReply(Command("GET"), 1)
	wires[1].write("GET", "k")
	swallow.Wait(t)
	p.Blackhole(true)
	dial(t, p)
	s.Pause() // nobody else closes anything

	p.Close()
	buf := make([]byte, 1<<20)
	stacks := string(buf[:runtime.Stack(buf, true)])
	// At the start of a line, hence running and not only named as the creator.
	require.NotRegexp(t, `(?m)^\S*redistest\.\(\*(Proxy|proxyConn)\)`, stacks)
	wires[2].end()
}

func TestClientsEndReachesTheServer(t *testing.T) {
	s, p, c := faulty(t)
	require.NoError(t, c.Ping(bg).Err())
	require.NoError(t, c.Close())
	Eventually(t, within, func() bool { return p.Connections() == 0 }, "the proxy sees the end")
	Eventually(t, within, func() bool {
		return s.Info(t, "clients", "connected_clients") == "1" // the question itself
	}, "the server sees the end")
}

func TestProxyForwardsSubscriptions(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		s := Start(t)
		p := NewProxy(t, s.Addr())
		c := p.Client(t, func(o *redis.Options) { o.Protocol = protocol })
		sub := c.Subscribe(bg, "a")
		t.Cleanup(func() { sub.Close() })
		_, err := sub.Receive(bg)
		require.NoError(t, err)
		require.NoError(t, sub.Subscribe(bg, "b"))
		_, err = sub.Receive(bg)
		require.NoError(t, err)
		// A rule on replies spares what it could not match.
		drop := p.DropReply(Command("PING"), 1)
		require.NoError(t, sub.Ping(bg))
		_, err = sub.ReceiveTimeout(bg, within)
		require.NoError(t, err)
		require.Zero(t, drop.Hits())
		conn := dial(t, p)
		conn.write("PING")
		conn.end()
		require.Equal(t, 1, drop.Hits())

		for _, channel := range []string{"a", "b"} {
			require.EqualValues(t, 1, c.Publish(bg, channel, "hello").Val())
			msg, err := sub.ReceiveMessage(bg)
			require.NoError(t, err)
			require.Equal(t, channel+" hello", msg.Channel+" "+msg.Payload)
		}
	}
}

func TestConfirmationOfASubscriptionCanBeLost(t *testing.T) {
	for _, protocol := range []string{"2", "3"} {
		s, p, _ := faulty(t)
		conn := dial(t, p)
		conn.do("HELLO", protocol)
		drop := p.DropReply(Command("SUBSCRIBE"), 1)
		conn.write("SUBSCRIBE", "a")
		conn.end()
		require.Equal(t, 1, drop.Hits())
		Eventually(t, within, func() bool { return s.Info(t, "stats", "pubsub_channels") != "1" }, "the subscriber leaves")
	}
}

func TestPushFramesAreNoReplies(t *testing.T) {
	s, p, _ := faulty(t)
	conn := dial(t, p)
	require.Equal(t, "%", string(conn.do("HELLO", "3").kind))
	require.Equal(t, "OK", conn.do("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "k").text)
	drop := p.DropReply(Command("BLPOP"), 1)
	conn.write("BLPOP", "list", "0")
	Eventually(t, within, func() bool { return s.Info(t, "clients", "blocked_clients") == "1" }, "a reply is due")

	other := s.Client(t)
	require.NoError(t, other.Set(bg, "k", "v", 0).Err())
	require.Equal(t, "invalidate", conn.read().elems[0].text)
	require.Zero(t, drop.Hits())
	require.NoError(t, other.RPush(bg, "list", 1).Err())
	conn.end()
	require.Equal(t, 1, drop.Hits())
}

func TestDelayIsOnceARoundTrip(t *testing.T) {
	t.Parallel()
	_, p, _ := faulty(t)
	conn := dial(t, p)
	require.Equal(t, "PONG", conn.do("PING").text)
	const delay = 500 * time.Millisecond
	p.SetDelay(delay)
	// A duration is what is promised, so that only the clock can tell. The upper bound
	// leaves room for a busy machine and none for a delay per command.
	start := time.Now()
	pings := slices.Repeat([][]string{{"PING"}}, 50)
	conn.writeAll(pings...)
	for range pings {
		conn.read()
	}
	require.GreaterOrEqual(t, time.Since(start), delay)
	require.Less(t, time.Since(start), 20*delay)
}

func TestBlackholeIsSilentForGoodOnPresentConnections(t *testing.T) {
	t.Parallel()
	s, p, c := faulty(t)
	old := dial(t, p)
	require.Equal(t, "PONG", old.do("PING").text)

	p.Blackhole(true)
	require.True(t, isTimeout(c.Set(bg, "k", "v", 0).Err()), "accepted, never answered")
	old.write("SET", "k", "v")
	p.Blackhole(false)

	require.NoError(t, c.Ping(bg).Err(), "new connections work")
	drop := p.DropRequest(Command("SET"), 1)
	old.write("SET", "k", "v")
	require.True(t, old.silent(30*time.Millisecond))
	s.Kill()
	require.True(t, old.silent(30*time.Millisecond), "not even the server's end arrives")
	s.Start()
	require.ErrorIs(t, c.Set(bg, "k", "v", 0).Err(), io.EOF, "no fault was wasted on the lost command")
	drop.Wait(t)
	require.Empty(t, s.Keys(t))
	require.Zero(t, p.Commands(Command("SET")))
}

func TestBlackholeLosesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	_, p, _ := faulty(t)
	conn := dial(t, p)
	require.Equal(t, "PONG", conn.do("PING").text)
	const delay = 3 * time.Second // of which the way back is half
	p.SetDelay(delay)
	conn.write("PING")
	Eventually(t, within, func() bool { return p.Commands(Command("PING")) == 2 }, "the reply is under way")
	p.Blackhole(true)
	require.True(t, conn.silent(delay/2+100*time.Millisecond))
}

func TestResetIsSeenAsSuch(t *testing.T) {
	_, p, c := faulty(t)
	conn := dial(t, p)
	conn.do("PING")
	p.Reset()
	_, err := conn.r.ReadByte()
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.Zero(t, p.Connections())
	require.NoError(t, c.Ping(bg).Err(), "new connections work")
}

func TestRefuseLeavesPresentConnections(t *testing.T) {
	_, p, c := faulty(t)
	present := dial(t, p)
	present.do("PING")
	p.Refuse(true)
	require.Error(t, c.Ping(bg).Err())
	require.Equal(t, "PONG", present.do("PING").text)
	p.Refuse(false)
	require.NoError(t, c.Ping(bg).Err())
}

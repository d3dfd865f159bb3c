package virtual

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// once sends each command once, so that a fault shows as it is.
func once(t testing.TB, n *Node) *redis.Client {
	return NewHost([]*Node{n}).Clients(t)[0].(*redis.Client).WithTimeout(time.Second)
}

func TestKeysExpireByTheBubblesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Start(t)
		c := once(t, n)
		require.NoError(t, c.Set(bg, "k", "v", time.Hour).Err())
		time.Sleep(time.Hour - time.Millisecond)
		require.Equal(t, time.Millisecond, c.PTTL(bg, "k").Val())
		time.Sleep(time.Millisecond)
		require.Empty(t, n.Keys())
		require.True(t, c.Time(bg).Val().Equal(time.Now()))
	})
}

func TestLargePipelineDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := once(t, Start(t))
		value := strings.Repeat("x", 10_000)
		_, err := c.Pipelined(bg, func(p redis.Pipeliner) error {
			for range 100 {
				p.Echo(bg, value)
			}
			return nil
		})
		require.NoError(t, err)
	})
}

func TestPausedNodeCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Start(t)
		c := once(t, n)
		require.NoError(t, c.Ping(bg).Err())
		n.Pause()
		n.Pause()
		start := time.Now()
		require.ErrorIs(t, process(c, "set", "k", "v"), os.ErrDeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))
		require.Empty(t, n.Keys())
		n.Resume()
		n.Resume()
		synctest.Wait()
		require.Equal(t, []string{"k"}, n.Keys(), "executed although its client gave up")
	})
}

func TestSilentNodeSwallowsAndStaysSilentOnOldConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Start(t)
		c := once(t, n)
		sub := c.Subscribe(bg, "news")
		defer sub.Close()
		_, err := sub.Receive(bg)
		require.NoError(t, err)
		require.NoError(t, c.Ping(bg).Err()) // has a connection open
		n.Silence(true)
		require.ErrorIs(t, process(c, "set", "k", "v"), os.ErrDeadlineExceeded)
		ctx, cancel := context.WithTimeout(bg, 3*time.Second)
		defer cancel()
		require.Error(t, c.Do(ctx, "set", "k", "v").Err(), "dials hang")
		n.Silence(false)
		require.NoError(t, process(c, "publish", "news", "lost"))
		_, err = sub.ReceiveTimeout(bg, time.Minute)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Empty(t, n.Keys(), "what was swallowed does not come late")
	})
}

func TestKilledNodeRefusesAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Start(t)
		c := once(t, n)
		require.NoError(t, process(c, "set", "k", "v"))
		n.Kill()
		n.Kill()
		require.Error(t, process(c, "get", "k"))
		require.ErrorIs(t, process(c, "get", "k"), syscall.ECONNREFUSED)
		n.Start()
		n.Start()
		require.ErrorIs(t, process(c, "get", "k"), redis.Nil)
		require.NoError(t, process(c, "set", "k", "v"))
		n.Restart()
		require.Empty(t, n.Keys())
		require.NoError(t, c.Set(bg, "k", "v", 0).Err(), "on a new connection")
		n.Flush()
		require.Empty(t, n.Keys())
	})
}

func TestPausedNodeCanBeKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Start(t)
		c := once(t, n)
		n.Pause()
		require.Error(t, process(c, "set", "k", "v"))
		n.Restart()
		n.Resume()
		require.NoError(t, c.Ping(bg).Err())
		require.Empty(t, n.Keys())
	})
}

func TestDelaysAreExactAndCommandsStayInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Start(t)
		c := once(t, n)
		require.NoError(t, c.Ping(bg).Err())
		n.SetDelay(100*time.Millisecond, 20*time.Millisecond)
		start := time.Now()
		require.NoError(t, process(c, "publish", "news", "1"))
		require.Equal(t, 120*time.Millisecond, time.Since(start))
		published := n.Commands(Name("PUBLISH"))
		require.Len(t, published, 1)
		require.Equal(t, []string{"PUBLISH", "news", "1"}, published[0].Args)
		require.Equal(t, 100*time.Millisecond, published[0].At.Sub(start))

		s := newStream()
		require.NoError(t, s.write([]byte("a"), time.Now().Add(time.Second)))
		require.NoError(t, s.write([]byte("b"), time.Now()))
		n1, wait, err := s.take(make([]byte, 2))
		require.Equal(t, 0, n1)
		require.Equal(t, time.Second, wait, "nothing overtakes")
		require.NoError(t, err)
	})
}

func TestMuteNodeTellsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := Start(t)
		c := once(t, n)
		sub := c.Subscribe(bg, "news")
		defer sub.Close()
		_, err := sub.Receive(bg)
		require.NoError(t, err)
		n.Mute(true)
		heard, err := c.Publish(bg, "news", "1").Result()
		require.NoError(t, err)
		require.EqualValues(t, 1, heard)
		n.Mute(false)
		require.NoError(t, c.Publish(bg, "news", "2").Err())
		m, err := sub.ReceiveMessage(bg)
		require.NoError(t, err)
		require.Equal(t, "2", m.Payload)
	})
}

func TestHostsAreCutOffOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := StartN(t, 3)
		a, b := NewHost(nodes), NewHost(nodes)
		as, bs := a.Clients(t), b.Clients(t)
		for _, c := range append(as, bs...) {
			require.NoError(t, c.Ping(bg).Err())
		}
		a.Silence(true)
		require.ErrorIs(t, process(as[0].(*redis.Client).WithTimeout(time.Second), "ping"), os.ErrDeadlineExceeded)
		require.NoError(t, bs[0].Ping(bg).Err())
		a.Silence(false)
		require.NoError(t, as[0].Ping(bg).Err())
		a.Kill()
		require.Error(t, process(as[1].(*redis.Client), "ping"))
		require.ErrorIs(t, process(as[1].(*redis.Client), "ping"), syscall.ENETDOWN)
		require.NoError(t, bs[1].Ping(bg).Err())
	})
}

func TestPubSubToNodesThatDoNotAnswerDoesNotStopTheClock(t *testing.T) {
	for name, fault := range map[string]func(*Node){
		"silent": func(n *Node) { n.Silence(true) },
		"paused": (*Node).Pause,
		"slow":   func(n *Node) { n.SetDelay(time.Second, time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := Start(t)
				c := once(t, n)
				fault(n)
				sub := c.Subscribe(bg)
				var wg sync.WaitGroup
				for range 4 {
					wg.Go(func() { _ = sub.Subscribe(bg, "news") })
				}
				time.Sleep(time.Hour)
				wg.Wait()
				require.NoError(t, sub.Close())
			})
		})
	}
}

func TestReadEndsWithItsDeadlineOrTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connect(Start(t), false, new(way))
		p := make([]byte, 1)
		start := time.Now()
		require.NoError(t, client.SetReadDeadline(start.Add(time.Second)))
		_, err := client.Read(p)
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
		require.Equal(t, time.Second, time.Since(start))
		_, err = client.Read(p)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "until there is another one")

		require.NoError(t, client.SetReadDeadline(time.Now().Add(-time.Second)))
		_, err = client.Read(p)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, client.SetReadDeadline(time.Time{}))
		var wg sync.WaitGroup
		wg.Go(func() { _, err = client.Read(p) })
		synctest.Wait()
		require.NoError(t, client.SetReadDeadline(time.Now().Add(time.Minute)), "while it reads")
		require.NoError(t, client.Close())
		wg.Wait()
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = client.Write(p)
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = server.Read(p)
		require.EqualError(t, err, "EOF")
		require.False(t, errors.Is(err, net.ErrClosed))
		require.NoError(t, server.Close())
	})
}

// process sends a command once.
func process(c *redis.Client, args ...any) error {
	cmd := &single{*redis.NewCmd(bg, args...)}
	return c.Process(bg, cmd)
}

type single struct{ redis.Cmd }

func (*single) NoRetry() bool { return true }

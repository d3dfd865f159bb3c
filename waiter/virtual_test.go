package waiter_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/waiter"
)

// How long things take, exactly.

// inBubble runs f in virtual time, with a hub over n nodes and its ear on "orders".
func inBubble(t *testing.T, n int, f func(t *testing.T, h *waiter.Hub, nodes []*virtual.Node, clients []redis.UniversalClient, e *ear)) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, n)
		clients := virtual.NewHost(nodes).Clients(t)
		h := newHub(t, clients...)
		_, e := listen(t, h, "orders")
		synctest.Wait()
		f(t, h, nodes, clients, e)
	})
}

// say has every node publish message on "orders", and waits until it has been dealt with.
func say(t *testing.T, clients []redis.UniversalClient, message string) {
	t.Helper()
	for _, c := range clients {
		publish(t, c, "orders", message)
	}
	synctest.Wait()
}

func TestOneReleaseWakesOnceAndNotOncePerNode(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		inBubble(t, n, func(t *testing.T, h *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, e *ear) {
			_, other := listen(t, h, "payments")
			var releases []string
			for i := range 20 {
				releases = append(releases, fmt.Sprint("release ", i))
				say(t, clients, releases[i])
			}
			require.Equal(t, releases, e.all(), "%d nodes", n)
			require.Empty(t, other.all(), "it is another channel's")
		})
	}
}

func TestEachWhoListensIsWokenUntilItLeaves(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, h *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, stays *ear) {
		s, leaves := listen(t, h, "orders")
		say(t, clients, "one")
		s.Close()
		s.Close() // again
		say(t, clients, "two")
		require.Equal(t, []string{"one"}, leaves.all())
		require.Equal(t, []string{"one", "two"}, stays.all())
	})
}

func TestQuorumWakesAtOnceAndAMinorityAfterTheGrace(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, _ *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, e *ear) {
		for _, c := range clients[:3] {
			publish(t, c, "orders", "by three")
		}
		synctest.Wait()
		require.Equal(t, []string{"by three"}, e.all())

		publish(t, clients[0], "orders", "by two")
		time.Sleep(4 * time.Millisecond)
		publish(t, clients[1], "orders", "by two")
		publish(t, clients[1], "orders", "by one")
		time.Sleep(6*time.Millisecond - 1)
		synctest.Wait()
		require.Len(t, e.all(), 1)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, []string{"by three", "by two"}, e.all(), "ten milliseconds after the first node")
		time.Sleep(4 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"by three", "by two", "by one"}, e.all())
	})
}

func TestQuorumThatFollowsAMinorityWakesAgain(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, _ *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, e *ear) {
		publish(t, clients[0], "orders", "late")
		time.Sleep(100 * time.Millisecond)
		publish(t, clients[1], "orders", "late")
		synctest.Wait()
		require.Equal(t, []string{"late"}, e.all(), "by the first node")
		publish(t, clients[1], "orders", "late") // again
		synctest.Wait()
		require.Len(t, e.all(), 1)
		publish(t, clients[2], "orders", "late")
		synctest.Wait()
		require.Equal(t, []string{"late", "late"}, e.all(), "by a quorum")
		publish(t, clients[3], "orders", "late")
		publish(t, clients[4], "orders", "late")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Len(t, e.all(), 2)
	})
}

// Nodes may say the same thing in different words. Those of one subject are counted together, and what is said late is
// not taken for something new.
func TestMessagesAboutOneSubjectAreCountedTogether(t *testing.T) {
	inBubble(t, 5, func(t *testing.T, h *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, _ *ear) {
		var mu sync.Mutex
		var all [][]string
		heard := func() [][]string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		s := h.SubscribeBy("turns", func(message string) string {
			id, _, _ := strings.Cut(message, " ")
			return id
		}, func(messages []string) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, messages)
		})
		ready(t, s)
		synctest.Wait() // every node listens: Ready waits for a quorum
		say := func(node int, message string) {
			publish(t, clients[node], "turns", message)
			synctest.Wait()
		}
		say(0, "a one")
		say(1, "b one")
		say(1, "a two")
		say(1, "a three") // it counts once
		require.Empty(t, heard())
		say(2, "a one")
		require.Equal(t, [][]string{{"a one", "a two", "a one"}}, heard(), "what each node has said first")
		say(3, "a two")
		time.Sleep(9 * time.Millisecond)
		synctest.Wait()
		require.Len(t, heard(), 1, "it was said before")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"b one"}, heard()[1])

		say(0, "a four")
		say(4, "a four")
		require.Len(t, heard(), 2)
		say(2, "a five")
		require.Equal(t, [][]string{{"a four", "a five", "a four"}}, heard()[2:], "something new")
		say(0, "a six")
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, [][]string{{"a six"}}, heard()[3:])
		say(1, "a six")
		say(2, "a seven")
		require.Equal(t, [][]string{{"a six", "a six", "a seven"}}, heard()[4:], "by a quorum now")
		say(3, "a seven")
		require.Len(t, heard(), 5)
		say(0, "a seven")
		require.Equal(t, [][]string{{"a seven", "a seven", "a seven"}}, heard()[5:], "by a quorum of those who know of it")
		say(1, "a seven")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, heard(), 6)
	})
}

// A client's own channel carries the wake-ups of all its locks. Nodes publish them in
// different orders, and any number of them ahead of each other.
func TestManyMessagesOnOneChannelAreAllToldApart(t *testing.T) {
	const messages = 1000
	inBubble(t, 3, func(t *testing.T, _ *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, e *ear) {
		var publishers sync.WaitGroup
		for i, c := range clients {
			order := rand.Perm(messages)
			if i == 1 {
				slices.Sort(order)
				slices.Reverse(order)
			}
			publishers.Go(func() {
				for _, m := range order {
					publish(t, c, "orders", fmt.Sprint("wake ", m))
					time.Sleep(900 * time.Microsecond) // all of it in the second that messages are remembered
				}
			})
		}
		publishers.Wait()
		synctest.Wait()
		heard := make(map[string]int)
		for _, m := range e.all() {
			heard[m]++
		}
		for m := range messages {
			n := heard[fmt.Sprint("wake ", m)]
			require.Positive(t, n, "message %d wakes who waits for it", m)
			require.LessOrEqual(t, n, 2, "message %d: for a minority, if others are late, and for a quorum", m)
		}
	})
}

func TestSilentConnectionIsFoundWithinFourSeconds(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, _ *waiter.Hub, nodes []*virtual.Node, clients []redis.UniversalClient, e *ear) {
		nodes[0].Silence(true)
		time.Sleep(time.Second)
		nodes[0].Silence(false) // what was open stays dead
		time.Sleep(3*time.Second - 1)
		synctest.Wait()
		require.Empty(t, e.all())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, []string{""}, e.all(), "three seconds of silence, and one without a pong")
		publish(t, clients[0], "orders", "release")
		synctest.Wait()
		require.Equal(t, []string{"", "release"}, e.all())
	})
}

func TestQuietConnectionIsKept(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, _ *waiter.Hub, nodes []*virtual.Node, _ []redis.UniversalClient, e *ear) {
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Empty(t, e.all(), "nothing was missed, nobody has to look")
		require.Len(t, nodes[0].Commands(virtual.Name("SUBSCRIBE")), 1)
	})
}

func TestNameIsGivenUpASecondAfterItsLastListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 3)
		h := newHub(t, virtual.NewHost(nodes).Clients(t)...)
		first, _ := listen(t, h, "orders")
		first.Close()
		time.Sleep(time.Second - 1)
		second, _ := listen(t, h, "orders") // in time
		time.Sleep(time.Hour)
		given := func() (n int) {
			synctest.Wait()
			for _, node := range nodes {
				n += len(node.Commands(virtual.Name("UNSUBSCRIBE")))
			}
			return n
		}
		require.Zero(t, given())
		second.Close()
		time.Sleep(time.Second - 1)
		require.Zero(t, given())
		time.Sleep(time.Nanosecond)
		require.Equal(t, 3, given())

		// Each name has its own second.
		one, _ := listen(t, h, "one")
		two, _ := listen(t, h, "two")
		one.Close()
		time.Sleep(time.Second / 2)
		two.Close()
		time.Sleep(time.Second / 2)
		require.Equal(t, 6, given())
		time.Sleep(time.Second)
		require.Equal(t, 9, given())
	})
}

// A release between two looks is heard of only if a quorum listens when the second begins.
func TestReadyWaitsForAQuorum(t *testing.T) {
	for _, n := range []int{3, 5} {
		synctest.Test(t, func(t *testing.T) {
			nodes := virtual.StartN(t, n)
			for _, node := range nodes[n/2:] {
				node.Pause()
			}
			s := newHub(t, virtual.NewHost(nodes).Clients(t)...).Subscribe("orders", func(string) {})
			time.Sleep(time.Minute)
			select {
			case <-s.Ready():
				t.Fatalf("%d of %d nodes listen", n/2, n)
			default:
			}
			nodes[n/2].Resume()
			time.Sleep(10 * time.Second)
			select {
			case <-s.Ready():
			default:
				t.Fatal("a quorum listens")
			}
		})
	}
}

// refuse has nodes refuse SUBSCRIBE for one of these channels; for all of them if there are none.
func refuse(nodes []*virtual.Node, channels ...string) {
	for _, n := range nodes {
		n.Refuse(func(args []string) bool {
			return strings.EqualFold(args[0], "SUBSCRIBE") &&
				(len(channels) == 0 || slices.ContainsFunc(args[1:], func(c string) bool { return slices.Contains(channels, c) }))
		})
	}
}

// A server that is busy, or a user without rights, may be so for a while. The connection stays, and its channels are heard
// as soon as they may be.
func TestWhatWasRefusedIsSubscribedLater(t *testing.T) {
	for _, n := range []int{1, 3} {
		inBubble(t, n, func(t *testing.T, h *waiter.Hub, nodes []*virtual.Node, clients []redis.UniversalClient, _ *ear) {
			refuse(nodes)
			e := new(ear)
			s := h.Subscribe("payments", e.wake)
			time.Sleep(time.Minute)
			require.False(t, isReady(s))
			for _, node := range nodes {
				require.Less(t, len(node.Commands(virtual.Name("SUBSCRIBE"))), 60, "it is tried now and then")
			}
			for _, node := range nodes {
				node.Refuse(nil)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			require.True(t, isReady(s))
			for _, c := range clients {
				publish(t, c, "payments", "released")
			}
			synctest.Wait()
			require.Equal(t, []string{"released"}, e.all())
		})
	}
}

// One channel that is refused, in the same command as others, does not keep those from being heard, neither at first nor
// on a new connection.
func TestOneThatIsRefusedKeepsNoOtherDeaf(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, h *waiter.Hub, nodes []*virtual.Node, clients []redis.UniversalClient, first *ear) {
		refuse(nodes, "secret")
		var all []*waiter.Subscription
		for _, channel := range []string{"secret", "a", "b", "c"} {
			all = append(all, h.Subscribe(channel, func(string) {}))
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for i, s := range all {
			require.Equal(t, i > 0, isReady(s), i)
		}
		nodes[0].Reboot()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for _, channel := range []string{"a", "b", "c", "orders"} {
			require.Equal(t, 1, listeners(t, clients[0], channel), channel)
		}
		say(t, clients, "after that")
		require.Equal(t, 1, first.count("after that"))
	})
}

// However many there are: those that are sent again are not only those of which the server has said no.
func TestManyThatWereRefusedAreAllHeard(t *testing.T) {
	for _, secret := range []bool{false, true} { // for good
		inBubble(t, 1, func(t *testing.T, h *waiter.Hub, nodes []*virtual.Node, _ []redis.UniversalClient, _ *ear) {
			var all []*waiter.Subscription
			for i := range 2500 {
				all = append(all, h.Subscribe(fmt.Sprint("name ", i), func(string) {}))
			}
			refuse(nodes)
			nodes[0].Reboot()
			time.Sleep(10 * time.Second)
			nodes[0].Refuse(nil)
			if secret {
				refuse(nodes, "secret")
				h.Subscribe("secret", func(string) {})
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			for _, s := range all {
				require.True(t, isReady(s))
			}
		})
	}
}

func isReady(s *waiter.Subscription) bool {
	select {
	case <-s.Ready():
		return true
	default:
		return false
	}
}

// Who has listened, and cannot any more, is not ready: it must know that it has to look by itself.
func TestWhoCannotHearAnyMoreIsNotReady(t *testing.T) {
	for _, n := range []int{1, 3} {
		inBubble(t, n, func(t *testing.T, h *waiter.Hub, nodes []*virtual.Node, _ []redis.UniversalClient, _ *ear) {
			s, e := listen(t, h, "payments")
			synctest.Wait()
			refuse(nodes)
			for i, node := range nodes {
				node.Reboot()
				time.Sleep(time.Second)
				synctest.Wait()
				require.Equal(t, len(nodes)-i-1 > len(nodes)/2, isReady(s), "%d nodes have broken", i+1)
			}
			ready := s.Ready()
			require.Empty(t, e.all())
			for _, node := range nodes {
				node.Refuse(nil)
			}
			time.Sleep(3 * time.Second)
			synctest.Wait()
			require.True(t, isReady(s))
			_, open := <-ready
			require.False(t, open, "it is the one that was waited for")
			require.Positive(t, e.count(""), "messages may have been missed")
		})
	}
}

// In a Cluster, too.
func TestWhoCannotHearAClusterAnyMoreIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := virtual.StartN(t, 1)
		virtual.NewCluster(nodes)
		client := virtual.NewHost(nodes).Cluster(t)
		require.NoError(t, client.Ping(bg).Err())
		h := newHub(t, client)
		s, _ := listen(t, h, "payments")
		synctest.Wait()
		refuse(nodes)
		nodes[0].Reboot()
		time.Sleep(time.Second)
		synctest.Wait()
		require.False(t, isReady(s))
		nodes[0].Refuse(nil)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.True(t, isReady(s))
	})
}

// A user without rights to PING hears all the same, and at once. The connection is there, as long as it answers.
func TestARefusedPingIsAnAnswer(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, _ *waiter.Hub, nodes []*virtual.Node, clients []redis.UniversalClient, e *ear) {
		var pings atomic.Int32
		nodes[0].Refuse(func(args []string) bool {
			isPing := args[0] == "PING"
			if isPing {
				pings.Add(1)
			}
			return isPing
		})
		for i := range 50 {
			time.Sleep(3*time.Second + time.Duration(i)*20*time.Millisecond) // pings come every 3 s
			message := fmt.Sprint("released ", i)
			say(t, clients, message)
			require.Equal(t, 1, e.count(message), message)
		}
		require.Greater(t, pings.Load(), int32(40))
		require.Zero(t, e.count(""), "the connection is kept")
		require.Len(t, nodes[0].Commands(virtual.Name("SUBSCRIBE")), 1)
	})
}

// failsOnce is a connection on which one write fails: the first with that in it.
type failsOnce struct {
	net.Conn
	with   string
	failed *atomic.Bool
}

func (c failsOnce) Write(p []byte) (int, error) {
	if strings.Contains(string(p), c.with) && c.failed.CompareAndSwap(false, true) {
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return c.Conn.Write(p)
}

// Who subscribes may be the first to find a connection broken. The channel is subscribed on the next one, and what was
// subscribed is heard there, too.
func TestASubscriptionThatCouldNotBeWrittenIsMadeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Bool
		options := virtual.NewHost(virtual.StartN(t, 1)).Clients(t)[0].(*redis.Client).Options()
		dial := options.Dialer
		options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return failsOnce{conn, "payments", &failed}, err
		}
		client := redis.NewClient(options)
		t.Cleanup(func() { _ = client.Close() })
		h := newHub(t, client)
		_, orders := listen(t, h, "orders")
		payments := new(ear)
		s := h.Subscribe("payments", payments.wake)
		time.Sleep(time.Second)
		synctest.Wait()
		require.True(t, failed.Load())
		require.True(t, isReady(s))
		for channel, e := range map[string]*ear{"orders": orders, "payments": payments} {
			publish(t, client, channel, "released")
			synctest.Wait()
			require.Equal(t, 1, e.count("released"), channel)
		}
	})
}

package fair_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// A ticket survives whatever becomes of single commands and connections.

func TestTicketSurvivesLostRepliesAndRequests(t *testing.T) {
	t.Parallel()
	faults := map[string]func(*redistest.Proxy) *redistest.Drop{
		"reply dropped":   func(p *redistest.Proxy) *redistest.Drop { return p.DropReply(askCall, 1) },
		"reply swallowed": func(p *redistest.Proxy) *redistest.Drop { return p.SwallowReply(askCall, 1) },
		"request dropped": func(p *redistest.Proxy) *redistest.Drop { return p.DropRequest(askCall, 1) },
		"duplicated":      func(p *redistest.Proxy) *redistest.Drop { return p.Duplicate(askCall, 1) },
	}
	for name, fault := range faults {
		for _, n := range []int{1, 3, 5} {
			t.Run(fmt.Sprintf("%s, %d nodes", name, n), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, n)
				lease := r.hold(t, calm)
				c, proxies := r.proxied(t, calm)
				first := r.enqueue(t, here{r.client(t, calm)}, "first")
				warm := r.enqueue(t, here{c}, "warm") // it has its connections
				var drops []*redistest.Drop
				for _, p := range proxies {
					drops = append(drops, fault(p))
				}
				second := here{c}.lock(r, "second")
				for _, d := range drops {
					d.Wait(t)
				}
				redistest.Eventually(t, within, func() bool { return len(r.settled()) == 3 }, "it has its place")
				second.hold = r.settled()[2]
				r.order.Settle(second.hold)
				third := r.enqueue(t, here{r.client(t, calm)}, "third")
				require.NoError(t, lease.Unlock(bg))
				r.pass(t, first, warm, second, third)
				for _, p := range proxies {
					p.Reset() // Close would wait for the replies that never come
				}
				r.requireDrained(t)
			})
		}
	}
}

func TestTicketSurvivesReconnects(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		lease := r.hold(t, calm)
		c, proxies := r.proxied(t, calm)
		first := r.enqueue(t, here{c}, "first")
		second := r.enqueue(t, here{r.client(t, calm)}, "second")
		tickets := r.tickets(0)
		for range 5 {
			listened := sent(proxies, redistest.Command("SUBSCRIBE"))
			for _, p := range proxies {
				p.Reset()
			}
			redistest.Eventually(t, within, func() bool {
				return sent(proxies, redistest.Command("SUBSCRIBE")) >= listened+n
			}, "it listens again")
			redistest.Eventually(t, within, func() bool { return maps.Equal(tickets, r.tickets(0)) }, "it has its ticket")
		}
		require.NoError(t, lease.Unlock(bg))
		r.pass(t, first, second)
		r.requireDrained(t)
	}
}

// The release finds nobody listening: the message is lost, and the place with it. The
// ticket is not.
func TestHeadThatReconnectsDuringTheReleaseIsServedWithItsTicket(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		r := newRig(t, n)
		lease := r.hold(t, calm)
		first := r.enqueue(t, here{r.client(t)}, "first")
		for _, s := range r.servers {
			require.Positive(t, s.Client(t).Do(bg, "CLIENT", "KILL", "TYPE", "pubsub").Val())
		}
		require.NoError(t, lease.Unlock(bg))
		first.requireGranted(t, promptly)
		require.NoError(t, first.unlock())
		r.requireDrained(t)
	}
}

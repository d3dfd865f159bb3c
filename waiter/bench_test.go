package waiter_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// On a contended lock one waiter comes as another goes, and the channel stays.
func BenchmarkSubscribeAndClose(b *testing.B) {
	for _, n := range []int{1, 5} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			h := newHub(b, redistest.Clients(b, redistest.StartN(b, n))...)
			listen(b, h, "orders")
			wake := func(string) {}
			b.ReportAllocs()
			for b.Loop() {
				h.Subscribe("orders", wake).Close()
			}
		})
	}
}

// From the publication on every node to the call of a waiter that a quorum wakes.
func BenchmarkWake(b *testing.B) {
	for _, n := range []int{1, 5} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			clients := redistest.Clients(b, redistest.StartN(b, n))
			h := newHub(b, clients...)
			woken := make(chan string, 1)
			ready(b, h.Subscribe("orders", func(message string) {
				if message != "" {
					woken <- message
				}
			}))
			everywhere(b, clients, "orders")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				message := fmt.Sprint(i)
				for _, c := range clients {
					publish(b, c, "orders", message)
				}
				<-woken
			}
		})
	}
}

// Waiters that come and go on a channel that stays do not come to allocate more unnoticed.
func TestAllocationsOfASubscription(t *testing.T) {
	h := newHub(t, redistest.Clients(t, redistest.StartN(t, 1))...)
	listen(t, h, "orders")
	wake := func(string) {}
	got := testing.AllocsPerRun(500, func() { h.Subscribe("orders", wake).Close() })
	t.Logf("%.0f allocations of a subscription", got)
	require.LessOrEqual(t, got, 3.0)
}

package waiter_test

import (
	"context"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/waiter"
)

func TestCloseDoesNotWaitForTheGreetingOfAStoppedNode(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	clients := redistest.Clients(t, servers, endless) // whoever waits for it does not end
	servers[0].Pause()
	h := waiter.New(clients, 2, nil)
	listen(t, h, "orders") // of the others
	closeInTime(t, h)
	servers[0].Resume()
}

// The dial of go-redis with TLS ignores its context.
func TestCloseDoesNotWaitForADialThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	begun, hang := make(chan struct{}, 100), make(chan struct{})
	client := redis.NewClient(&redis.Options{Dialer: func(context.Context, string, string) (net.Conn, error) {
		begun <- struct{}{}
		<-hang
		return nil, net.ErrClosed
	}})
	t.Cleanup(func() { _ = client.Close() })
	t.Cleanup(func() { close(hang) })
	h := waiter.New([]redis.UniversalClient{client}, 1, nil)
	h.Subscribe("orders", func(string) {})
	<-begun
	closeInTime(t, h)
}

package waiter_test

import (
	"testing"

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

package waiter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/waiter"
)

func TestCloseDoesNotWaitForTheGreetingOfAStoppedNode(t *testing.T) {
	t.Parallel()
	servers, clients := start(t, 3)
	servers[0].Pause()
	h := waiter.New(clients, 2, nil)
	listen(t, h, "orders") // of the others
	begin := time.Now()
	h.Close()
	require.Less(t, time.Since(begin), 3*time.Second)
	servers[0].Resume()
}

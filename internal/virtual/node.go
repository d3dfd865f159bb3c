package virtual

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// A Node is a Redis server in memory and in virtual time.
type Node struct {
	name string // its address

	mu       sync.Mutex
	server   *miniredis.Miniredis // nil: killed
	run      chan struct{}        // closed: it runs; open: it is paused
	silent   bool
	request  time.Duration // delays
	reply    time.Duration
	mute     bool
	commands []Command

	conns ends // the server's
}

// A Command is one that a node was sent, by a client or by a script.
type Command struct {
	At   time.Time
	Args []string
}

// Start starts a node, which is gone when t ends.
func Start(t testing.TB) *Node { return StartN(t, 1)[0] }

// StartN starts n independent nodes.
func StartN(t testing.TB, n int) []*Node {
	nodes := make([]*Node, n)
	for i := range nodes {
		run := make(chan struct{})
		close(run)
		nodes[i] = &Node{name: fmt.Sprintf("node%d:6379", i+1), run: run}
		nodes[i].Start()
		t.Cleanup(nodes[i].Kill)
	}
	return nodes
}

// Addr is what the node is called.
func (n *Node) Addr() string { return n.name }

// dial makes a connection and returns the client's end.
func (n *Node) dial(ctx context.Context) (*conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.silent:
		n.mu.Unlock()
		defer n.mu.Lock()
		<-ctx.Done()
		return nil, n.dialError(ctx.Err())
	case n.server == nil:
		return nil, n.dialError(syscall.ECONNREFUSED)
	}
	client, server := connect(n)
	n.conns.add(server)
	n.server.Server().ServeConn(server)
	return client, nil
}

func (n *Node) dialError(err error) error {
	return &net.OpError{Op: "dial", Net: "virtual", Addr: address(n.name), Err: err}
}

// running returns a channel that is closed while the node runs.
func (n *Node) running() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.run
}

// delay is how long what is sent is on its way: a request, or a reply.
func (n *Node) delay(reply bool) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if reply {
		return n.reply
	}
	return n.request
}

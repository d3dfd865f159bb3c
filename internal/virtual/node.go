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

	paused gate
	silent gate

	mu       sync.Mutex
	server   *miniredis.Miniredis // nil: killed
	runner   *runner              // of the server's scripts
	started  time.Time
	request  time.Duration // delays
	reply    time.Duration
	mute     bool
	refused  func(args []string) bool // nil: nothing
	cluster  *Cluster                 // nil: it is in none
	commands []Command
	scripts  map[string]*script // by hash

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
	// A bubble's clock stops with its test, so goroutines that only have to wait for a
	// little are waited for: go-redis dials on although nobody wants it any more.
	t.Cleanup(func() { time.Sleep(time.Minute) })
	return StartInRealTime(t, n)
}

// StartInRealTime is StartN outside of a bubble: the nodes' time is real, and nobody waits
// for go-redis, which may dial a node that is gone for up to a second longer.
func StartInRealTime(t testing.TB, n int) []*Node {
	nodes := make([]*Node, n)
	for i := range nodes {
		nodes[i] = &Node{name: fmt.Sprintf("node%d:6379", i+1)}
		nodes[i].Start()
		t.Cleanup(func() {
			nodes[i].Kill()
			nodes[i].Silence(false) // who dials still is refused
		})
	}
	return nodes
}

// Addr is what the node is called.
func (n *Node) Addr() string { return n.name }

// dial makes a connection by a way, a prompt one without the node's delays, and returns the client's end.
func (n *Node) dial(ctx context.Context, prompt bool, by *way) (*conn, error) {
	if err := n.silent.pass(ctx); err != nil {
		return nil, n.dialError(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server == nil {
		return nil, n.dialError(syscall.ECONNREFUSED)
	}
	client, server := connect(n, prompt, by)
	n.conns.add(server)
	n.server.Server().ServeConn(server)
	if n.silent.isShut() {
		client.cut() // it was silenced in between
	}
	return client, nil
}

func (n *Node) dialError(err error) error {
	return &net.OpError{Op: "dial", Net: "virtual", Addr: address(n.name), Err: err}
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

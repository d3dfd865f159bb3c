package virtual

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// A Host is a machine on which a client of the nodes runs: what becomes of it and of
// its network does not concern other hosts.
type Host struct {
	// PoolSize is how many connections each client may have at once.
	PoolSize int

	nodes []*Node

	silent gate
	killed atomic.Bool

	conns ends // the client's
}

// NewHost makes a host that reaches nodes.
func NewHost(nodes []*Node) *Host {
	return &Host{PoolSize: 10, nodes: nodes} // not by the number of CPUs
}

// Clients returns the host's client of each node, with go-redis's own defaults. They
// are closed when t ends.
func (h *Host) Clients(t testing.TB) []redis.UniversalClient {
	t.Helper()
	t.Cleanup(func() {
		h.Kill()
		h.Silence(false) // who dials still is refused
	})
	clients := make([]redis.UniversalClient, len(h.nodes))
	for i, n := range h.nodes {
		c := redis.NewClient(&redis.Options{
			Addr:     n.name,
			Dialer:   func(ctx context.Context, _, _ string) (net.Conn, error) { return h.dial(ctx, n) },
			PoolSize: h.PoolSize,
			// It looks the address up in DNS.
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		t.Cleanup(func() { _ = c.Close() })
		clients[i] = c
	}
	return clients
}

// Silence cuts the host off from all nodes, as its power supply would: they are told
// nothing. With false new connections are made again; the old ones stay dead.
func (h *Host) Silence(on bool) {
	h.silent.set(on)
	if on {
		h.conns.cut()
	}
}

// Reset ends the host's connections. New ones are made.
func (h *Host) Reset() { h.conns.close() }

// Kill ends the host's connections and refuses it new ones, for good: what nodes see of
// a process that is killed.
func (h *Host) Kill() {
	h.killed.Store(true)
	h.conns.close()
}

// dial makes a connection to n.
//
// For Pub/Sub go-redis dials and says hello under a mutex, and who waits for a mutex
// stops the clock of a bubble. So that must take no time: to a node that does not answer
// it fails at once, and it knows no delay. It is told by a dial without a deadline.
func (h *Host) dial(ctx context.Context, n *Node) (net.Conn, error) {
	_, patient := ctx.Deadline()
	if !patient && (h.silent.isShut() || n.silent.isShut() || n.paused.isShut()) {
		return nil, n.dialError(syscall.EHOSTUNREACH)
	}
	if err := h.silent.pass(ctx); err != nil {
		return nil, n.dialError(err)
	}
	if h.killed.Load() {
		return nil, n.dialError(syscall.ENETDOWN)
	}
	c, err := n.dial(ctx, !patient)
	if err != nil {
		return nil, err
	}
	h.conns.add(c)
	switch { // it has happened in between
	case h.killed.Load():
		_ = c.Close()
	case h.silent.isShut():
		c.wire.cut()
	}
	return c, nil
}

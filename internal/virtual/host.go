package virtual

import (
	"context"
	"net"
	"sync"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// A Host is a machine on which a client of the nodes runs: what becomes of it and of
// its network does not concern other hosts.
type Host struct {
	nodes []*Node

	mu     sync.Mutex
	silent bool
	killed bool

	conns ends // the client's
}

// NewHost makes a host that reaches nodes.
func NewHost(nodes []*Node) *Host { return &Host{nodes: nodes} }

// Clients returns the host's client of each node, with go-redis's own defaults. They
// are closed when t ends.
func (h *Host) Clients(t testing.TB) []redis.UniversalClient {
	t.Helper()
	clients := make([]redis.UniversalClient, len(h.nodes))
	for i, n := range h.nodes {
		c := redis.NewClient(&redis.Options{
			Addr:     n.name,
			Dialer:   func(ctx context.Context, _, _ string) (net.Conn, error) { return h.dial(ctx, n) },
			PoolSize: 10, // not by the number of CPUs
			// It looks the address up in DNS.
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		t.Cleanup(func() { _ = c.Close() })
		clients[i] = c
	}
	return clients
}

// Silence cuts the host off from all nodes, as its power supply would: they are told
// nothing. With false new connections work again; those that were open are dead.
func (h *Host) Silence(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent = on
	if on {
		h.conns.cut()
	}
}

// Kill ends the host's connections and refuses it new ones, for good: what nodes see of
// a process that is killed.
func (h *Host) Kill() {
	h.mu.Lock()
	h.killed = true
	h.mu.Unlock()
	h.conns.close()
}

func (h *Host) dial(ctx context.Context, n *Node) (net.Conn, error) {
	h.mu.Lock()
	silent, killed := h.silent, h.killed
	h.mu.Unlock()
	switch {
	case killed:
		return nil, n.dialError(syscall.ENETDOWN)
	case silent:
		<-ctx.Done()
		return nil, n.dialError(ctx.Err())
	}
	c, err := n.dial(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns.add(c)
	switch {
	case h.killed:
		_ = c.Close()
	case h.silent:
		c.wire.cut()
	}
	return c, nil
}

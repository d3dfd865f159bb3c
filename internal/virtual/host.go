package virtual

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// A Host is a machine on which a client of the nodes runs: what becomes of it and of
// its network does not concern other hosts.
type Host struct {
	// PoolSize is how many connections each client may have at once.
	PoolSize int

	ways   []*way
	killed atomic.Bool

	mu      sync.Mutex
	clients []redis.UniversalClient // to be closed
}

// A way is that from a host to one node.
type way struct {
	node   *Node
	silent gate
	conns  ends // the client's
	checks bool // see CheckIdle

	request atomic.Int64 // delays, besides the node's
	reply   atomic.Int64
}

// CheckIdle has the host's clients find out that a node has closed an idle connection before they use it, as go-redis does over TCP.
// Otherwise they find out by using it, as they do if the node closes it meanwhile. It is called before there are any.
func (h *Host) CheckIdle() {
	for _, w := range h.ways {
		w.checks = true
	}
}

// delay is how much longer what is sent is on its way than it would be from another host.
func (w *way) delay(reply bool) time.Duration {
	if reply {
		return time.Duration(w.reply.Load())
	}
	return time.Duration(w.request.Load())
}

// NewHost makes a host that reaches nodes.
func NewHost(nodes []*Node) *Host {
	h := &Host{PoolSize: 10} // not by the number of CPUs
	for _, n := range nodes {
		h.ways = append(h.ways, &way{node: n})
	}
	return h
}

// Clients returns the host's client of each node, with go-redis's own defaults
// but for the size of buffers. They
// are closed when t ends.
func (h *Host) Clients(t testing.TB) []redis.UniversalClient {
	t.Helper()
	t.Cleanup(h.Close)
	return h.Connect()
}

// buffer is the size of a connection's buffers, in bytes.
const buffer = 4 << 10

// Connect is Clients for whoever calls Close.
func (h *Host) Connect() []redis.UniversalClient {
	clients := make([]redis.UniversalClient, len(h.ways))
	for i, w := range h.ways {
		clients[i] = redis.NewClient(&redis.Options{
			Addr:     w.node.name,
			Dialer:   func(ctx context.Context, _, _ string) (net.Conn, error) { return h.dial(ctx, w) },
			PoolSize: h.PoolSize,
			// Of its own size, 32 KiB, they would be half of all that tests allocate.
			ReadBufferSize: buffer, WriteBufferSize: buffer,
			// It looks the address up in DNS.
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients = append(h.clients, clients...)
	return clients
}

// Close closes the clients and kills the host.
func (h *Host) Close() {
	h.mu.Lock()
	clients := h.clients
	h.clients = nil
	h.mu.Unlock()
	for _, c := range clients {
		_ = c.Close() // its user may have closed it
	}
	h.Kill()
	h.Silence(false) // who dials still is refused
}

// Silence cuts the host off from all nodes, as its power supply would: they are told
// nothing. With false new connections are made again; the old ones stay dead.
func (h *Host) Silence(on bool) {
	for i := range h.ways {
		h.Cut(i, on)
	}
}

// Cut is Silence towards one node.
func (h *Host) Cut(node int, on bool) {
	w := h.ways[node]
	w.silent.set(on)
	if on {
		w.conns.cut()
	}
}

// SetDelay moves the host away from all nodes: what is sent takes longer, besides the nodes' own delays, and
// so do messages.
func (h *Host) SetDelay(request, reply time.Duration) {
	for _, w := range h.ways {
		w.request.Store(int64(request))
		w.reply.Store(int64(reply))
	}
}

// IsCut tells whether the host is cut off from a node.
func (h *Host) IsCut(node int) bool { return h.ways[node].silent.isShut() }

// Reset ends the host's connections. New ones are made.
func (h *Host) Reset() {
	for _, w := range h.ways {
		w.conns.close()
	}
}

// Kill ends the host's connections and refuses it new ones, for good: what nodes see of
// a process that is killed.
func (h *Host) Kill() {
	h.killed.Store(true)
	h.Reset()
}

// dial makes a connection by w.
//
// For Pub/Sub go-redis dials and says hello under a mutex, and who waits for a mutex
// stops the clock of a bubble. So that must take no time: to a node that does not answer
// it fails at once, and it knows no delay. It is told by a dial without a deadline.
func (h *Host) dial(ctx context.Context, w *way) (net.Conn, error) {
	n := w.node
	_, patient := ctx.Deadline()
	if !patient && (w.silent.isShut() || n.silent.isShut() || n.paused.isShut()) {
		return nil, n.dialError(syscall.EHOSTUNREACH)
	}
	if err := w.silent.pass(ctx); err != nil {
		return nil, n.dialError(err)
	}
	if h.killed.Load() {
		return nil, n.dialError(syscall.ENETDOWN)
	}
	c, err := n.dial(ctx, !patient, w)
	if err != nil {
		return nil, err
	}
	w.conns.add(c)
	switch { // it has happened in between
	case h.killed.Load():
		_ = c.Close()
	case w.silent.isShut():
		c.cut()
	}
	return c, nil
}

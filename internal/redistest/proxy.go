package redistest

import (
	"context"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Proxy forwards connections to a server and inflicts faults on them.
//
// It reads both directions as RESP2 or RESP3 and matches replies to requests by
// their order, so that a fault can be aimed at one command of a pipeline. From its
// first SUBSCRIBE (or MONITOR, PSYNC) on, a connection's replies are forwarded as
// they are. CLIENT REPLY is not understood.
//
// While the server is down, a new connection is accepted and then closed.
//
// It is safe for concurrent use. It must not be copied; the zero value is of no
// use.
type Proxy struct {
	// Immutable.
	upstream string
	listener *net.TCPListener
	ctx      context.Context
	cancel   context.CancelFunc

	wg    sync.WaitGroup // every goroutine of the proxy
	delay atomic.Int64   // of a round trip

	mu        sync.Mutex
	conns     map[*proxyConn]struct{}
	rules     []*rule
	commands  [][]string // all that were forwarded
	blackhole bool
	refuse    bool
	closed    bool
}

// NewProxy listens on a free loopback port and forwards to upstream. It is closed
// when t ends.
func NewProxy(t testing.TB, upstream string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("redistest: proxy: %v", err)
	}
	p := &Proxy{upstream: upstream, listener: l.(*net.TCPListener), conns: map[*proxyConn]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Go(p.accept)
	t.Cleanup(p.Close)
	return p
}

// Addr returns the host:port for clients.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Client returns a client of the proxy; see [Server.Client].
func (p *Proxy) Client(t testing.TB, change ...func(*redis.Options)) *redis.Client {
	t.Helper()
	return newClient(t, p.Addr(), change...)
}

// Connections returns how many connections are open on the clients' side.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := 0
	for c := range p.conns {
		if !c.clientClosed.Load() {
			open++
		}
	}
	return open
}

// Commands returns how many matching commands have been forwarded to the server
// since the start; nil matches every command. A duplicated command counts twice, one that is still held not
// at all. What clients send on their own account (HELLO, CLIENT SETINFO) counts
// too.
func (p *Proxy) Commands(match func(cmd []string) bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, cmd := range p.commands {
		if match == nil || match(cmd) {
			n++
		}
	}
	return n
}

// Close closes all connections and returns when no goroutine of the proxy is
// left. Commands that are held or delayed are lost. Further calls do nothing.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	conns := slices.Collect(maps.Keys(p.conns))
	p.mu.Unlock()
	// Before the connections are closed: one that is being attached either sees the
	// end of ctx or is seen here.
	p.cancel()
	_ = p.listener.Close()
	for _, c := range conns {
		c.close()
	}
	p.wg.Wait()
}

// accept is a goroutine of NewProxy's, until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.AcceptTCP()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client *net.TCPConn) {
	c := &proxyConn{proxy: p, client: client, toServer: newLane(), toClient: newLane()}
	defer client.Close()
	if !p.admit(c) {
		return
	}
	defer p.forget(c)
	if c.dead.Load() {
		c.discard()
		return
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(p.ctx, "tcp", p.upstream)
	if err != nil {
		return
	}
	defer server.Close()
	if c.attach(server.(*net.TCPConn)) {
		c.run()
	}
}

func (p *Proxy) admit(c *proxyConn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.refuse {
		return false
	}
	c.dead.Store(p.blackhole)
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) forget(c *proxyConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) record(cmd []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = append(p.commands, cmd)
}

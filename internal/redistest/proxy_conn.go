package redistest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// proxyConn is one client's connection and its counterpart at the server.
//
// Four goroutines work on it: one reads and one writes in each direction, with a
// lane between them. The requests' writer enters what it sends in expected,
// which the replies' reader consults. Where mu is held together with Proxy.mu, mu
// comes first.
type proxyConn struct {
	// Immutable.
	proxy              *Proxy
	client             *net.TCPConn
	toServer, toClient *lane

	dead         atomic.Bool // blackholed
	clientClosed atomic.Bool

	mu       sync.Mutex
	server   *net.TCPConn // nil until attached
	expected []expectation
	first    []byte // the reply to the first of two duplicates
	raw      bool   // replies are no longer matched
	silent   bool   // replies are no longer forwarded
}

// attach reports false if the proxy was closed in the meantime.
func (c *proxyConn) attach(server *net.TCPConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server = server
	return c.proxy.ctx.Err() == nil
}

// run ends when both sides are closed. The client's end reaches the server through
// writeRequests, the server's end the client through writeReplies.
func (c *proxyConn) run() {
	var wg sync.WaitGroup
	wg.Go(c.readRequests)
	wg.Go(c.writeRequests)
	wg.Go(c.readReplies)
	wg.Go(c.writeReplies)
	wg.Wait()
}

func (c *proxyConn) closeClient() {
	c.clientClosed.Store(true)
	_ = c.client.Close()
}

// close ends both sides at once.
func (c *proxyConn) close() {
	c.closeClient()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil {
		_ = c.server.Close()
	}
}

// discard reads what a client sends into a black hole, until it closes.
func (c *proxyConn) discard() {
	_, _ = io.Copy(io.Discard, c.client)
	c.closeClient()
}

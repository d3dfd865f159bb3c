package main

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// traffic is what a contender exchanges with the servers.
type traffic struct {
	uncounted   bool // of commands and writes
	commands    atomic.Int64
	writes      atomic.Int64 // what commands share is a pipeline
	connections atomic.Int64 // open now
}

// newClient makes a client with go-redis' defaults that counts its commands.
func newClient(addr string, seen *traffic) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return dial(ctx, network, addr, seen)
		},
	})
}

// newClients makes one for each node.
func newClients(s site) []redis.UniversalClient {
	if s.cluster {
		return []redis.UniversalClient{redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: s.addrs,
			Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
				return dial(ctx, network, addr, s.seen)
			},
		})}
	}
	clients := make([]redis.UniversalClient, len(s.addrs))
	for i, addr := range s.addrs {
		clients[i] = newClient(addr, s.seen)
	}
	return clients
}

func closeClients(clients []redis.UniversalClient) {
	for _, c := range clients {
		_ = c.Close()
	}
}

func dial(ctx context.Context, network, addr string, seen *traffic) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second, KeepAlive: 5 * time.Minute}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &countingConn{TCPConn: conn.(*net.TCPConn), seen: seen}
	seen.connections.Add(1)
	return c, nil
}

// A countingConn counts the commands that are written to it: each begins with an
// asterisk at the start of a line, which no argument of a contender contains.
type countingConn struct {
	*net.TCPConn // with its SyscallConn, which pools look at
	seen         *traffic
	closed       atomic.Bool
	tail         [2]byte // the last bytes of the write before
}

var commandStart = []byte("\r\n*")

// Write counts and writes.
func (c *countingConn) Write(p []byte) (int, error) {
	if c.seen.uncounted {
		return c.TCPConn.Write(p)
	}
	n := bytes.Count(p, commandStart)
	if len(p) > 0 && p[0] == '*' && (c.tail == [2]byte{} || c.tail == [2]byte{'\r', '\n'}) {
		n++
	}
	if len(p) > 1 {
		copy(c.tail[:], p[len(p)-2:])
	}
	c.seen.writes.Add(1)
	c.seen.commands.Add(int64(n))
	return c.TCPConn.Write(p)
}

// Close closes.
func (c *countingConn) Close() error {
	if !c.closed.Swap(true) {
		c.seen.connections.Add(-1)
	}
	return c.TCPConn.Close()
}

package main

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// newClient makes a client with go-redis' defaults that counts its commands.
func newClient(addr string, commands *atomic.Int64) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return dial(ctx, network, addr, commands)
		},
	})
}

// newClients makes one for each node.
func newClients(s site) []redis.UniversalClient {
	clients := make([]redis.UniversalClient, len(s.addrs))
	for i, addr := range s.addrs {
		clients[i] = newClient(addr, s.commands)
	}
	return clients
}

func closeClients(clients []redis.UniversalClient) {
	for _, c := range clients {
		_ = c.Close()
	}
}

func dial(ctx context.Context, network, addr string, commands *atomic.Int64) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second, KeepAlive: 5 * time.Minute}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &countingConn{TCPConn: conn.(*net.TCPConn), commands: commands}, nil
}

// A countingConn counts the commands that are written to it: each begins with an
// asterisk at the start of a line, which no argument of a contender contains.
type countingConn struct {
	*net.TCPConn // with its SyscallConn, which pools look at
	commands     *atomic.Int64
	tail         [2]byte // the last bytes of the write before
}

var commandStart = []byte("\r\n*")

// Write counts and writes.
func (c *countingConn) Write(p []byte) (int, error) {
	n := bytes.Count(p, commandStart)
	if len(p) > 0 && p[0] == '*' && (c.tail == [2]byte{} || c.tail == [2]byte{'\r', '\n'}) {
		n++
	}
	if len(p) > 1 {
		copy(c.tail[:], p[len(p)-2:])
	}
	if n > 0 {
		c.commands.Add(int64(n))
	}
	return c.TCPConn.Write(p)
}

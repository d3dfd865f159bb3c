// Package echo has nodes that answer every script with 1 at once, in this process and
// without a network. For a lock that is a grant, with token 1, and a release. Benchmarks
// and bounds on allocations use it: what they see is the library's own cost, and that of
// go-redis. It proves nothing about Redis.
package echo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Nodes makes n of them. Their clients are closed when tb ends.
func Nodes(tb testing.TB, n int) []redis.UniversalClient {
	tb.Helper()
	nodes := make([]redis.UniversalClient, n)
	for i := range nodes {
		text := fmt.Sprintf("run_id:%d\n", i)
		reply := fmt.Appendf(nil, "$%d\r\n%s\r\n", len(text), text)
		c := redis.NewClient(&redis.Options{
			Addr:     fmt.Sprint("echo:", i),
			Protocol: 2, DisableIdentity: true,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
			Dialer: func(context.Context, string, string) (net.Conn, error) {
				e := &conn{info: reply}
				e.arrived.L = &e.mu
				return e, nil
			},
		})
		tb.Cleanup(func() { _ = c.Close() })
		nodes[i] = c
	}
	return nodes
}

// A conn is both ends of a connection. It must not be copied.
type conn struct {
	info []byte // the reply to INFO

	mu      sync.Mutex
	arrived sync.Cond // with mu: there is something to read, or the connection is closed
	replies []byte
	closed  bool
}

var (
	next = []byte("\r\n*") // before each command but the first of a write
	info = []byte("info")
	one  = []byte(":1\r\n")

	// The first command of a connection, and what old servers say to it.
	hello   = []byte("hello")
	unknown = []byte("-ERR unknown command\r\n")
)

// Write answers what is written: whole commands, as a client flushes them.
func (c *conn) Write(p []byte) (int, error) {
	commands := bytes.Count(p, next)
	if len(p) > 0 && p[0] == '*' {
		commands++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	switch {
	case commands == 1 && bytes.Contains(p, info):
		c.replies = append(c.replies, c.info...)
	case bytes.Contains(p, hello):
		for range commands {
			c.replies = append(c.replies, unknown...)
		}
	default:
		for range commands {
			c.replies = append(c.replies, one...)
		}
	}
	c.arrived.Signal()
	return len(p), nil
}

// Read waits for a reply, without a deadline: none is ever late.
func (c *conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.replies) == 0 && !c.closed {
		c.arrived.Wait()
	}
	if c.closed {
		return 0, io.EOF
	}
	n := copy(p, c.replies)
	c.replies = c.replies[:copy(c.replies, c.replies[n:])]
	return n, nil
}

// Close ends a Read.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.arrived.Broadcast()
	return nil
}

func (c *conn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *conn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

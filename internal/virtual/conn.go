package virtual

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A conn is one end of a connection between a client and a node.
type conn struct {
	node   *Node
	server bool // the node's end
	in     *stream
	out    *stream
	wire   *wire // shared by both ends

	reads  *deadline
	closed chan struct{}
	once   sync.Once
}

// A wire is what both ends of a connection have in common.
type wire struct {
	prompt bool // without the node's delays; immutable
	way    *way // of the client's host; immutable

	mu      sync.Mutex
	dead    bool // whatever is sent is lost, the end of the connection too
	greeted bool // of a prompt one: its user has said hello, and subscribes
}

// hasty tells whether the wire's user says hello under a mutex still, so that it must be answered at
// once, or not at all; see Host.dial.
func (w *wire) hasty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prompt && !w.greeted
}

// errCut is an error for which go-redis does not repeat a hello: it would pause first, under the mutex.
var errCut = errors.New("virtual: the connection is cut")

// sees looks at what the user sends.
func (w *wire) sees(p []byte) {
	if !w.prompt || !bytes.Contains(bytes.ToLower(p), []byte("subscribe")) {
		return
	}
	w.mu.Lock()
	w.greeted = true
	w.mu.Unlock()
}

func (w *wire) cut() {
	w.mu.Lock()
	w.dead = true
	w.mu.Unlock()
}

func (w *wire) isDead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// connect makes both ends of a connection to n.
func connect(n *Node, prompt bool, by *way) (client, server *conn) {
	requests, replies, w := newStream(), newStream(), &wire{prompt: prompt, way: by}
	client = &conn{node: n, in: replies, out: requests, wire: w, reads: newDeadline(), closed: make(chan struct{})}
	server = &conn{node: n, in: requests, out: replies, wire: w, reads: newDeadline(), closed: make(chan struct{}), server: true}
	return client, server
}

// cut loses whatever is sent from now on.
func (c *conn) cut() {
	if c.wire.hasty() {
		_ = c.Close()
		return
	}
	c.wire.cut()
}

// Read implements [net.Conn]. A paused node reads nothing.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p, c.closed, c.reads)
	if err != nil && !c.server && c.wire.hasty() {
		err = errCut
	}
	if !c.server || err != nil {
		return n, err
	}
	for {
		paused := c.node.paused.wait()
		if paused == nil || c.wire.hasty() {
			return n, nil
		}
		select {
		case <-paused:
		case <-c.closed:
			return 0, net.ErrClosed
		}
	}
}

// Write implements [net.Conn]. It never blocks.
func (c *conn) Write(p []byte) (int, error) {
	select {
	case <-c.closed:
		if c.wire.hasty() {
			return 0, errCut
		}
		return 0, net.ErrClosed
	default:
	}
	if c.wire.isDead() {
		return len(p), nil
	}
	if !c.server {
		c.wire.sees(p)
	}
	due := time.Now()
	if !c.wire.prompt {
		due = due.Add(c.node.delay(c.server))
	}
	if !c.wire.hasty() {
		due = due.Add(c.wire.way.delay(c.server))
	}
	if err := c.out.write(p, due); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.reads.set(time.Time{})
		if !c.wire.isDead() {
			c.out.end()
		}
	})
	return nil
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error {
	c.reads.set(t)
	return nil
}

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline implements [net.Conn]: a Write takes no time.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// SyscallConn implements [syscall.Conn], by which go-redis finds out before it uses a connection that has been idle whether the
// other end has closed it; see Host.CheckIdle.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if c.wire.way.checks && c.in.isOver() {
		return nil, io.EOF
	}
	return noFile{}, nil
}

// noFile is what a connection without a file descriptor has in its place: nothing to call anything with.
type noFile struct{}

func (noFile) Control(func(uintptr)) error    { return nil }
func (noFile) Read(func(uintptr) bool) error  { return nil }
func (noFile) Write(func(uintptr) bool) error { return nil }

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return address(c.node.name) }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return address(c.node.name) }

type address string

func (address) Network() string  { return "virtual" }
func (a address) String() string { return string(a) }

// ends are the open ends that somebody has. The zero value is empty and ready to use.
type ends struct {
	mu    sync.Mutex
	conns []*conn
}

func (e *ends) add(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns = slices.DeleteFunc(e.conns, func(other *conn) bool {
		select {
		case <-other.closed:
			return true
		default:
			return false
		}
	})
	e.conns = append(e.conns, c)
}

func (e *ends) each(f func(*conn)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.conns {
		f(c)
	}
}

func (e *ends) cut()   { e.each((*conn).cut) }
func (e *ends) close() { e.each(func(c *conn) { _ = c.Close() }) }

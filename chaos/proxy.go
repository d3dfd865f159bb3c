package main

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/loopback"
)

// A proxy is the network between one worker and one node.
type proxy struct {
	addr, socket string

	mu       sync.Mutex
	listener net.Listener
	weather  Weather
	change   chan struct{} // closed with each change of the weather
	conns    map[*proxyConn]struct{}
	closed   bool
	running  sync.WaitGroup
}

// Weather is what a proxy does to the traffic.
type Weather struct {
	Delay, Jitter time.Duration // of each direction
	LoseRequest   float64       // probability, for what arrives in one piece
	LoseReply     float64
	Silently      bool // what is lost takes no connection with it: nothing is heard of it again
	HoldUp        bool // nothing reaches the node until this ends; then it does, late
	HoldDown      bool // nothing reaches the worker until this ends
}

// ownAddr is a loopback address of one's own, with any port. All proxies there are
// made before the first is shut.
func ownAddr() string { return net.JoinHostPort(loopback.Own(), "0") }

func newProxy(addr, socket string) (*proxy, error) {
	p := &proxy{addr: addr, socket: socket, change: make(chan struct{}), conns: make(map[*proxyConn]struct{})}
	return p, p.open()
}

// open lets connections be made. A node that is down refuses them: its proxies are shut.
func (p *proxy) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil || p.closed {
		return nil
	}
	l, err := listen(p.addr)
	if err != nil {
		return err
	}
	p.listener, p.addr = l, l.Addr().String()
	p.running.Go(func() { p.accept(l) })
	return nil
}

// listen tries again while the address is in use: a process that is being started has a copy of a listener that was
// closed until it executes.
func listen(addr string) (net.Listener, error) {
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		l, err := net.Listen("tcp", addr)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return l, err
		}
	}
}

func (p *proxy) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.socket)
		if err != nil {
			client.Close()
			continue
		}
		c := &proxyConn{proxy: p, client: client, server: server, gone: make(chan struct{})}
		p.mu.Lock()
		late := p.listener != l // shut since it was accepted
		if !late {
			p.conns[c] = struct{}{}
		}
		p.mu.Unlock()
		if late {
			c.reset()
			return
		}
		for _, up := range []bool{true, false} {
			queue := make(chan piece, 1024)
			p.running.Go(func() { c.read(up, queue) })
			p.running.Go(func() { c.write(up, queue) })
		}
	}
}

// shut refuses connections from now on and resets those that are there.
func (p *proxy) shut() {
	p.mu.Lock()
	l := p.listener
	p.listener = nil
	p.mu.Unlock()
	if l != nil {
		l.Close()
	}
	p.reset()
}

// reset resets every connection, at both ends.
func (p *proxy) reset() {
	p.mu.Lock()
	conns := p.conns
	p.conns = make(map[*proxyConn]struct{})
	p.mu.Unlock()
	for c := range conns {
		c.reset()
	}
}

func (p *proxy) set(w Weather) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.weather = w
	close(p.change)
	p.change = make(chan struct{})
}

func (p *proxy) now() (Weather, chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.weather, p.change
}

func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.shut()
	p.running.Wait()
}

// A proxyConn is one connection and its way on.
type proxyConn struct {
	proxy          *proxy
	client, server net.Conn
	gone           chan struct{}
	once           sync.Once
}

// A piece is what was read at once: a request or a reply, or several.
type piece struct {
	bytes []byte
	due   time.Time
	lose  bool
}

func (c *proxyConn) reset() {
	c.once.Do(func() {
		close(c.gone)
		if tcp, ok := c.client.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // RST in place of FIN
		}
		c.client.Close()
		c.server.Close()
		c.proxy.mu.Lock()
		delete(c.proxy.conns, c)
		c.proxy.mu.Unlock()
	})
}

// read takes pieces from one end and gives each its fate.
func (c *proxyConn) read(up bool, queue chan<- piece) {
	defer close(queue)
	from := c.server
	if up {
		from = c.client
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			c.reset()
			return
		}
		w, _ := c.proxy.now()
		lose := w.LoseReply
		if up {
			lose = w.LoseRequest
		}
		delay := w.Delay
		if w.Jitter > 0 {
			delay += rand.N(w.Jitter)
		}
		select {
		case queue <- piece{append([]byte(nil), buf[:n]...), time.Now().Add(delay), rand.Float64() < lose}:
		case <-c.gone:
			return
		}
	}
}

// write delivers pieces at the other end, each in its time and in their order.
func (c *proxyConn) write(up bool, queue <-chan piece) {
	to := c.client
	if up {
		to = c.server
	}
	deaf := false
	for p := range queue {
		if wait := time.Until(p.due); wait > 0 && !c.sleep(wait) || !c.held(up) {
			return
		}
		if p.lose {
			if w, _ := c.proxy.now(); !w.Silently {
				c.reset()
				return
			}
			deaf = true // a stream that has lost a part of itself does not go on
		}
		if deaf {
			continue
		}
		if _, err := to.Write(p.bytes); err != nil {
			c.reset()
			return
		}
	}
}

func (c *proxyConn) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.gone:
		return false
	}
}

// held waits while nothing gets through.
func (c *proxyConn) held(up bool) bool {
	for {
		w, change := c.proxy.now()
		if up && !w.HoldUp || !up && !w.HoldDown {
			return true
		}
		select {
		case <-change:
		case <-c.gone:
			return false
		}
	}
}

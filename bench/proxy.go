package main

import (
	"net"
	"sync"
	"time"
)

// A proxy makes a server far away: each direction takes half of a round trip longer.
type proxy struct {
	upstream string
	half     time.Duration
	listener net.Listener
	joined   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  []net.Conn
}

func newProxy(upstream string, roundTrip time.Duration) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{upstream: upstream, half: roundTrip / 2, listener: l}
	p.joined.Go(p.accept)
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	_ = p.listener.Close()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.joined.Wait()
}

// accept is a goroutine until the proxy is closed.
func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.upstream)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		if p.closed {
			_ = client.Close()
			_ = server.Close()
			p.mu.Unlock()
			return
		}
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.forward(client, server)
		p.forward(server, client)
	}
}

// A parcel is on its way until it is due.
type parcel struct {
	bytes []byte
	due   time.Time
}

// forward starts two goroutines, which end when either connection does.
func (p *proxy) forward(from, to net.Conn) {
	way := make(chan parcel, 1024)
	p.joined.Go(func() {
		defer close(way)
		for {
			buffer := make([]byte, 1<<14)
			n, err := from.Read(buffer)
			if n > 0 {
				way <- parcel{buffer[:n], time.Now().Add(p.half)}
			}
			if err != nil {
				return
			}
		}
	})
	p.joined.Go(func() {
		for next := range way {
			time.Sleep(time.Until(next.due))
			_, _ = to.Write(next.bytes) // once it fails the rest is for nobody
		}
		_ = to.Close()
	})
}

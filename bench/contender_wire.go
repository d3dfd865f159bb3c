package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// wire is raw without a client library: a connection, a writer and a reader for each
// node, and commands that were laid out in bytes beforehand.
type wire struct {
	pipes []*wirePipe
	ttl   int64
	ids   atomic.Int64
}

func openWire(s site) (locker, error) {
	nodes := newClients(s)
	defer closeClients(nodes)
	if err := loadBare(nodes); err != nil {
		return nil, err
	}
	w := &wire{ttl: s.ttl.Milliseconds()}
	for _, addr := range s.addrs {
		conn, err := dial(context.Background(), "tcp", addr, s.seen)
		if err != nil {
			w.close()
			return nil, err
		}
		w.pipes = append(w.pipes, newWirePipe(conn))
	}
	return w, nil
}

func (w *wire) handle(name string) handle {
	id := fmt.Sprint("wire:", w.ids.Add(1))
	return &wireHandle{
		wire:    w,
		acquire: resp("evalsha", bareAcquire.Hash(), "1", name, id, fmt.Sprint(w.ttl)),
		release: resp("evalsha", bareRelease.Hash(), "1", name, id),
		answers: make(chan error, len(w.pipes)),
	}
}

func (w *wire) close() {
	for _, p := range w.pipes {
		p.close()
	}
}

type wireHandle struct {
	*wire
	acquire, release []byte
	answers          chan error
}

func (h *wireHandle) lock(context.Context) (held, error) { return h, h.send(h.acquire) }

func (h *wireHandle) unlock() error { return h.send(h.release) }

func (h *wireHandle) send(command []byte) error {
	for _, p := range h.pipes {
		p.send(command, h.answers)
	}
	var failed error
	for range h.pipes {
		if err := <-h.answers; err != nil {
			failed = err
		}
	}
	return failed
}

// A wirePipe writes whatever has gathered since its last write, and reads replies in
// the same order.
type wirePipe struct {
	conn   net.Conn
	wake   chan struct{} // one slot: there is something to write
	away   chan chan error
	joined sync.WaitGroup

	mu      sync.Mutex
	buffer  []byte
	waiting []chan error // for what is in buffer
}

// maxAway is more than any workload has in flight.
const maxAway = 1 << 14

func newWirePipe(conn net.Conn) *wirePipe {
	p := &wirePipe{conn: conn, wake: make(chan struct{}, 1), away: make(chan chan error, maxAway)}
	p.joined.Go(p.gather)
	p.joined.Go(p.read)
	return p
}

func (p *wirePipe) send(command []byte, answer chan error) {
	p.mu.Lock()
	p.buffer = append(p.buffer, command...)
	p.waiting = append(p.waiting, answer)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// write writes commands on the caller's goroutine, past the writer, which has nothing to
// do then: a pipe is used in one of both ways.
func (p *wirePipe) write(commands [][]byte, answers ...chan error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, answer := range answers {
		p.away <- answer
	}
	_, _ = p.conn.Write(slices.Concat(commands...)) // a failure is seen by the reader
}

// gather is the writer, a goroutine until the pipe is closed.
func (p *wirePipe) gather() {
	defer close(p.away)
	var spare []byte
	var spareWaiting []chan error
	for range p.wake {
		p.mu.Lock()
		buffer, waiting := p.buffer, p.waiting
		p.buffer, p.waiting = spare[:0], spareWaiting[:0]
		p.mu.Unlock()
		for _, answer := range waiting {
			p.away <- answer
		}
		if len(buffer) > 0 {
			_, _ = p.conn.Write(buffer) // a failure is seen by the reader
		}
		spare, spareWaiting = buffer, waiting
	}
}

// read is a goroutine until the writer has ended.
func (p *wirePipe) read() {
	r := bufio.NewReaderSize(p.conn, 1<<16)
	for answer := range p.away {
		answer <- readReply(r)
	}
}

// close must not be called while anything is in flight.
func (p *wirePipe) close() {
	close(p.wake)
	p.joined.Wait()
	_ = p.conn.Close()
}

// readReply skips one reply of the bare scripts: a status, a number, an error or nil.
func readReply(r *bufio.Reader) error {
	line, err := r.ReadSlice('\n')
	if err == nil && line[0] == '-' {
		err = redis.ErrClosed
		if len(line) > 3 {
			err = fmt.Errorf("%s", line[1:len(line)-2])
		}
	}
	return err
}

// resp lays a command out as the protocol wants it.
func resp(args ...string) []byte {
	out := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(a), a)
	}
	return out
}

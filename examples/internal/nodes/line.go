package nodes

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

var errCut = errors.New("the node is cut off")

// A line is the way to one node. Once cut it has no connections and makes none.
type line struct {
	dialer net.Dialer

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

func newLine() *line { return &line{dialer: net.Dialer{Timeout: 5 * time.Second}} }

// dial is a go-redis dialer.
func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := l.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		_ = conn.Close()
		return nil, &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: errCut}
	}
	l.conns = append(l.conns, conn)
	return conn, nil
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for _, c := range l.conns {
		_ = c.Close() // go-redis may have closed it already
	}
	l.conns = nil
}

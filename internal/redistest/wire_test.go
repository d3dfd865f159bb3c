package redistest

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is a bare connection, for what a client library would hide.
type wire struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func dial(t *testing.T, p *Proxy) *wire {
	conn, err := net.Dial("tcp", p.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(within)))
	return &wire{t: t, conn: conn, r: bufio.NewReader(conn)}
}

func (w *wire) do(cmd ...string) frame {
	w.write(cmd...)
	return w.read()
}

func (w *wire) write(cmd ...string) { w.writeAll(cmd) }

// writeAll sends the commands as one pipeline.
func (w *wire) writeAll(cmds ...[]string) {
	var b []byte
	for _, cmd := range cmds {
		b = appendCommand(b, cmd...)
	}
	_, err := w.conn.Write(b)
	require.NoError(w.t, err)
}

func (w *wire) read() frame {
	f, err := readFrame(w.r)
	require.NoError(w.t, err)
	return f
}

// end expects the connection to be closed without a further reply.
func (w *wire) end() {
	_, err := w.r.ReadByte()
	require.ErrorIs(w.t, err, io.EOF)
}

// silent reports whether the connection stays open for d without a further byte.
func (w *wire) silent(d time.Duration) bool {
	require.NoError(w.t, w.conn.SetReadDeadline(time.Now().Add(d)))
	_, err := w.r.ReadByte()
	return errors.Is(err, os.ErrDeadlineExceeded)
}

package main

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that is being started keeps the listener of a proxy that was shut for a moment.
func TestAProxyOpensAgainOnceItsListenerHasGone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", ownAddr())
	require.NoError(t, err)
	copied, err := l.(*net.TCPListener).File()
	require.NoError(t, err)
	p := &proxy{addr: l.Addr().String()}
	require.NoError(t, l.Close())
	opened := make(chan error, 1)
	go func() { opened <- p.open() }()
	require.Never(t, func() bool { return len(opened) > 0 }, 50*time.Millisecond, 5*time.Millisecond)
	require.NoError(t, copied.Close())
	require.NoError(t, <-opened)
	p.close()
}

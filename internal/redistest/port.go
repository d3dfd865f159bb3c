package redistest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

const (
	loopback = "127.0.0.1"

	// Ports come from below every system's ephemeral range. The kernel would hand
	// an ephemeral port of a server that is down to the next outgoing connection,
	// and the server could not come back on it. The bus ports of cluster nodes,
	// busOffset above, form a second range that does not overlap the first.
	portLow   = 12000
	portHigh  = 21000
	busOffset = 10000
)

var errNoPort = errors.New("redistest: no free port found")

// freePort returns a port that was free a moment ago, as was its bus port. The
// caller must be ready to lose it to somebody else and ask again.
func freePort() (int, error) {
	for range 1000 {
		port := portLow + rand.IntN(portHigh-portLow)
		if portFree(port) && portFree(port+busOffset) {
			return port, nil
		}
	}
	return 0, errNoPort
}

func portFree(port int) bool {
	l, err := net.Listen("tcp", hostPort(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func hostPort(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}

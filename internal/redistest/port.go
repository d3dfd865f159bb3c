package redistest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"

	"github.com/holdfast-go/holdfast/internal/loopback"
)

// host is this process's own loopback address, so that the port of a server that is down
// is nobody else's.
var host = loopback.Own()

const (
	// Ports come from below every system's ephemeral range. The kernel would hand
	// an ephemeral port of a server that is down to the next outgoing connection,
	// and the server could not come back on it. The bus ports of cluster nodes,
	// busOffset above, form a second range that does not overlap the first.
	portLow   = 12000
	portHigh  = 21000
	busOffset = 10000
)

// given has the ports that this process has given away. None is given twice.
var given sync.Map

var errNoPort = errors.New("redistest: no free port found")

// freePort returns a port that was free a moment ago, as was its bus port. The
// caller must be ready to lose it to somebody else and ask again.
func freePort() (int, error) {
	for range 1000 {
		port := portLow + rand.IntN(portHigh-portLow)
		if !portFree(port) || !portFree(port+busOffset) {
			continue
		}
		if _, again := given.LoadOrStore(port, true); !again {
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
	return net.JoinHostPort(host, strconv.Itoa(port))
}

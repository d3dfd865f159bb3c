package nodes

import (
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// A Set is the nodes that an example runs on. It is safe for concurrent use. The zero
// value has no nodes; use [Embed] or [Connect].
type Set struct {
	clients  []redis.UniversalClient
	lines    []*line
	embedded []*miniredis.Miniredis // empty: the servers are not ours
}

// Embed starts n Redis nodes inside this process.
func Embed(n int) (*Set, error) {
	s := &Set{}
	for range n {
		m := miniredis.NewMiniRedis()
		// By itself miniredis lets no TTL pass.
		m.ClockTTL(true)
		if err := m.Start(); err != nil {
			s.Close()
			return nil, fmt.Errorf("start an embedded node: %w", err)
		}
		s.embedded = append(s.embedded, m)
		s.add(m.Addr())
	}
	return s, nil
}

// Connect uses servers that run already.
func Connect(addresses []string) *Set {
	s := &Set{}
	for _, address := range addresses {
		s.add(address)
	}
	return s
}

func (s *Set) add(address string) {
	l := newLine()
	s.lines = append(s.lines, l)
	s.clients = append(s.clients, redis.NewClient(&redis.Options{Addr: address, Dialer: l.dial}))
}

// Clients are the nodes as [github.com/holdfast-go/holdfast/lock.NewClient] takes them.
func (s *Set) Clients() []redis.UniversalClient { return s.clients }

// Take takes node i away for good, and says what it did: an embedded node is killed; a
// real one is only cut off from this program, since it is not ours to kill.
func (s *Set) Take(i int) string {
	s.lines[i].cut()
	if len(s.embedded) == 0 {
		return fmt.Sprintf("node %d is cut off: this program's connections to it are gone", i+1)
	}
	s.embedded[i].Close()
	return fmt.Sprintf("node %d is killed", i+1)
}

// Close closes the clients, and ends the embedded nodes.
func (s *Set) Close() {
	for _, c := range s.clients {
		_ = c.Close() // there is nothing to do about it
	}
	for _, m := range s.embedded {
		m.Close()
	}
}

// String says what the example runs on.
func (s *Set) String() string {
	if n := len(s.embedded); n > 0 {
		return fmt.Sprintf("%s embedded in this program (-redis host:port,... takes yours)", count(n))
	}
	addresses := make([]string, len(s.clients))
	for i, c := range s.clients {
		addresses[i] = c.(*redis.Client).Options().Addr
	}
	return fmt.Sprintf("%s at %s", count(len(addresses)), strings.Join(addresses, ", "))
}

func count(n int) string {
	if n == 1 {
		return "one Redis node"
	}
	return fmt.Sprintf("%d Redis nodes", n)
}

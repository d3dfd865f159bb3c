package virtual

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// A Cluster is a Redis Cluster of a single shard: one of its nodes has all slots, and the others are its
// replicas. A replica has what its master has only if a test gives it that.
type Cluster struct {
	nodes []*Node

	mu     sync.Mutex
	master int
	left   []int // nodes that know of no slot
	parted bool  // the keys of each slot are at different servers
}

// NewCluster makes a Cluster of nodes, the first of which is the master.
func NewCluster(nodes []*Node) *Cluster {
	c := &Cluster{nodes: nodes}
	for _, n := range nodes {
		n.mu.Lock()
		n.cluster = c
		n.mu.Unlock()
	}
	return c
}

// Promote has a node take over, and the master be its replica. Each node knows at once.
func (c *Cluster) Promote(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.master = node
}

// Part has the slots move, with some of their keys at one server and some at another, or ends that: what needs several
// keys cannot run meanwhile.
func (c *Cluster) Part(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parted = on
}

// Leave has a node, which goes on to answer, know nothing of the Cluster any more.
func (c *Cluster) Leave(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = append(c.left, node)
}

// Join has a node that has left be a replica again.
func (c *Cluster) Join(node int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = slices.DeleteFunc(c.left, func(i int) bool { return i == node })
}

// Cluster is Clients for a Cluster of the host's nodes.
func (h *Host) Cluster(t testing.TB, change ...func(*redis.ClusterOptions)) *redis.ClusterClient {
	t.Helper()
	o := redis.ClusterOptions{
		PoolSize:       h.PoolSize,
		ReadBufferSize: buffer, WriteBufferSize: buffer,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	o.Dialer = func(ctx context.Context, _, address string) (net.Conn, error) {
		return h.dial(ctx, h.ways[slices.IndexFunc(h.ways, func(w *way) bool { return w.node.name == address })])
	}
	for _, w := range h.ways {
		o.Addrs = append(o.Addrs, w.node.name)
	}
	for _, f := range change {
		f(&o)
	}
	client := redis.NewClusterClient(&o)
	t.Cleanup(h.Close)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients = append(h.clients, client)
	return client
}

// answer answers for n what a server without a Cluster would answer otherwise, and reports whether it has.
func (c *Cluster) answer(n *Node, p *server.Peer, name string, args []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := slices.ContainsFunc(c.left, func(i int) bool { return c.nodes[i] == n })
	switch {
	case name == "CLUSTER" && strings.EqualFold(args[0], "slots"):
		if left {
			p.WriteLen(0)
		} else {
			c.slots(p)
		}
	case name != "EVAL" && name != "EVALSHA":
		return false
	case left:
		p.WriteError("CLUSTERDOWN Hash slot not served")
	case c.nodes[c.master] != n:
		p.WriteError("MOVED 0 " + c.nodes[c.master].name)
	case c.parted && args[1] != "0" && args[1] != "1":
		p.WriteError("TRYAGAIN Multiple keys request during rehashing of slot")
	default:
		return false
	}
	return true
}

// slots writes the master and its replicas. Called with mu held.
func (c *Cluster) slots(p *server.Peer) {
	p.WriteLen(1)
	members := []*Node{c.nodes[c.master]}
	for i, n := range c.nodes {
		if i != c.master && !slices.Contains(c.left, i) {
			members = append(members, n)
		}
	}
	p.WriteLen(2 + len(members))
	p.WriteInt(0)
	p.WriteInt(16383)
	for _, n := range members {
		host, port, _ := net.SplitHostPort(n.name)
		number, _ := strconv.Atoi(port)
		p.WriteLen(3)
		p.WriteBulk(host)
		p.WriteInt(number)
		p.WriteBulk(host)
	}
}

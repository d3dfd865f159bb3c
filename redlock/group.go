package redlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

// Config configures a [Group]. Each field must be set, except Logger, Samples, Back and Answered.
type Config struct {
	NodeTimeout time.Duration // a node silent for so long counts as a no
	DriftFactor float64       // how far apart two clocks may run: a share of the TTL
	DriftFixed  time.Duration // and a fixed part, for the granularity of expiry
	Logger      *slog.Logger  // nil: silent; its handler must not block, as lanes wait for it

	// Samples are calls of lua.Server, about names that a Cluster would spread. They tell whether one
	// server has all names. Without them there are no batches, and one master of a Cluster is not
	// refused.
	Samples []lua.Call

	// Back is called when a node answers again after an outage, or is another server than before:
	// it may have forgotten its keys. It must not block, nor call the group. It may be nil.
	Back func()

	// Answered is called with each node's answer to each motion, including its silence: once,
	// however late, and with the time since the motion was put. Releases that are tried again are
	// left out. It must be quick, and must not call the group. It may be nil.
	Answered func(node int, motion string, took time.Duration, a Answer)
}

// cacheLine is what processors exchange at once, as a rule.
const cacheLine = 64

// A Group is N independent nodes that vote as one. It is safe for concurrent use.
// The zero value is not usable; use [New].
type Group struct {
	nodes  []*node
	quorum int
	config Config
	ctx    context.Context // of everything that is sent; ends with Close
	cancel context.CancelFunc

	waiters sync.Pool // of chan struct{}: see waiter

	// Each grant writes grants. Apart from it, what is above stays in the caches of all processors.
	_      [cacheLine]byte
	grants atomic.Uint64 // number of the last one: see Footprint.Grant
	_      [cacheLine]byte

	mu         sync.Mutex
	identities map[string]*node // whose server that is; guarded by mu
}

// New returns a group of nodes. It does not connect to them; see [Group.Handshake].
func New(nodes []redis.UniversalClient, config Config) (*Group, error) {
	if len(nodes) == 0 {
		return nil, errors.New("redlock: no nodes: give at least one Redis client")
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Back == nil {
		config.Back = func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	g := &Group{
		ctx:        ctx,
		cancel:     cancel,
		quorum:     len(nodes)/2 + 1,
		config:     config,
		identities: make(map[string]*node, len(nodes)),
	}
	if err := g.addNodes(nodes); err != nil {
		cancel()
		return nil, err
	}
	for _, n := range g.nodes {
		newLane(n, config.NodeTimeout)
	}
	return g, nil
}

func (g *Group) addNodes(nodes []redis.UniversalClient) error {
	for i, client := range nodes {
		if isNil(client) {
			return fmt.Errorf("redlock: node %d of %d is a nil client", i+1, len(nodes))
		}
		if _, ok := client.(*redis.Ring); ok {
			return fmt.Errorf("redlock: node %d of %d is a Ring, which moves names to another server when one fails, "+
				"whoever has their locks: give the servers themselves", i+1, len(nodes))
		}
		for j := range i {
			if nodes[j] == client {
				return fmt.Errorf("%w: nodes %d and %d are the same client", ErrDuplicateNode, j+1, i+1)
			}
		}
		n := newNode(g, client, g.config.NodeTimeout)
		if n.nameless() && len(nodes) > 1 {
			n.address = fmt.Sprintf("%s (node %d of %d)", n.address, i+1, len(nodes))
		}
		g.nodes = append(g.nodes, n)
	}
	return nil
}

// Size is N, the number of nodes.
func (g *Group) Size() int { return len(g.nodes) }

// Quorum is how many nodes must agree: N/2+1 of those configured, never of those connected.
func (g *Group) Quorum() int { return g.quorum }

// Clustered reports whether a node is a Cluster, in which a message published on one server may be
// heard by a listener of another.
func (g *Group) Clustered() bool {
	return slices.ContainsFunc(g.nodes, func(n *node) bool {
		_, plain := n.client.(*redis.Client)
		return !plain
	})
}

// NodeTimeout is how long a node may be silent before it counts as a no.
func (g *Group) NodeTimeout() time.Duration { return g.config.NodeTimeout }

// Address returns the name of the node at index i in errors and logs.
func (g *Group) Address(i int) string { return g.nodes[i].address }

// Addresses returns the names of the nodes.
func (g *Group) Addresses() []string {
	names := make([]string, g.Size())
	for i := range names {
		names[i] = g.Address(i)
	}
	return names
}

// Drift is how far clocks may drift apart during ttl.
func (g *Group) Drift(ttl time.Duration) time.Duration {
	return time.Duration(float64(ttl)*g.config.DriftFactor) + g.config.DriftFixed
}

// Validity is the time until which keys written with ttl, by an attempt that began at start, can be
// relied on: start + TTL - drift, on this process's monotonic clock. The start counts, not the
// reply: a node may have run the script at any moment in between (traps 1 to 4).
func (g *Group) Validity(start time.Time, ttl time.Duration) time.Time {
	return start.Add(ttl - g.Drift(ttl))
}

// lanes are all lanes that have something to send, or may have.
func (g *Group) lanes() (lanes []*lane) {
	for _, n := range g.nodes {
		lanes = append(lanes, n.lane)
		if n.shards != nil {
			lanes = append(lanes, n.shards.all()...)
		}
	}
	return lanes
}

// Close ends every lane and waits for commands in flight. Undecided ballots are lost, and what nodes have not confirmed to
// be removed is not tried again: call [Group.Settle] before. It does not close the clients.
func (g *Group) Close() {
	var lanes []*lane
	for _, n := range g.nodes {
		n.lane.close()
		lanes = append(lanes, n.lane)
		if n.shards != nil {
			lanes = append(lanes, n.shards.close()...)
		}
	}
	// Queued commands have a node timeout to be sent. After that, a dial that hangs is not worth
	// waiting for.
	late := time.AfterFunc(2*g.config.NodeTimeout, g.cancel)
	defer late.Stop()
	defer g.cancel()
	for _, l := range lanes {
		l.join()
	}
}

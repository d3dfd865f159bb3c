package redlock

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// A node is one independent Redis deployment, as the user's client reaches it; or one
// shard of a deployment that is a Cluster.
type node struct {
	group   *Group
	client  redis.UniversalClient
	address string
	lane    *lane   // the way to it
	shards  *shards // of a Cluster; nil: it is none
	of      *node   // the Cluster whose shard it is; nil: it is none
	quiet   error   // ErrSilent, with the shard's address

	unreached atomic.Pointer[error] // the same, and why the last connection could not be made; nil: it could

	// Both share client's connections. A pipeline waits longer than its ballots do, so that late
	// answers are still read; a caller's own command does not. Only a plain client can be told how
	// long to wait; for others, quick is nil.
	patient redis.UniversalClient
	quick   *redis.Client

	batching batching

	identified  atomic.Bool
	handshaking chan struct{} // one slot: one handshake at a time
	refused     error         // nil: it was not; guarded by handshaking, as the time is

	refusedAt time.Time

	servers int // that it has been; guarded by the group's mu

	refusal refusal
}

func newNode(g *Group, client redis.UniversalClient, timeout time.Duration) *node {
	n := &node{
		group: g, client: client, patient: client, address: address(client), quiet: ErrSilent,
		handshaking: make(chan struct{}, 1),
	}
	if c, ok := client.(*redis.Client); ok {
		n.patient = n.watch(c.WithTimeout(max(10*timeout, time.Second)))
		n.quick = n.watch(c.WithTimeout(timeout))
		n.batching.samples = g.config.Samples
	}
	if c, ok := client.(*redis.ClusterClient); ok {
		n.shards = newShards(n, c)
	}
	return n
}

// newShard makes a node of one master of a Cluster. The keys of one shard may be in many slots, but
// a script's keys must share one: so there are no batches.
func newShard(cluster *node, master *redis.Client) *node {
	n := newNode(cluster.group, master, cluster.group.config.NodeTimeout)
	n.batching.samples = nil
	n.of = cluster
	n.quiet = n.blame(ErrSilent)
	return n
}

// root returns the node that n is a part of.
func (n *node) root() *node {
	if n.of != nil {
		return n.of
	}
	return n
}

// way returns the lane for commands about key.
func (n *node) way(key string) *lane {
	if n.shards == nil {
		return n.lane
	}
	return n.shards.lane(key)
}

// blame returns err as the node's: with the shard of a Cluster, and without what makes it a context's, such
// as that of a dial that took too long. Otherwise it would be taken for the end of the caller's context.
func (n *node) blame(err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = errors.New(err.Error())
	}
	if n.of == nil || err == nil {
		return err
	}
	return fmt.Errorf("shard %s: %w", n.address, err)
}

// silent returns the error of a command that the node has not answered in time.
func (n *node) silent() error {
	if err := n.unreached.Load(); err != nil {
		return *err
	}
	return n.quiet
}

// connections returns the maximum number of connections that the client keeps to one server.
func (n *node) connections() int {
	switch c := n.client.(type) {
	case *redis.Client:
		return connections(c.Options().PoolSize, c.Options().MaxActiveConns)
	case *redis.ClusterClient:
		return connections(c.Options().PoolSize, c.Options().MaxActiveConns)
	default:
		return 1
	}
}

func connections(size, most int) int {
	if most > 0 {
		return min(size, most)
	}
	return size
}

// known reports whether the node has had its handshake and may vote.
func (n *node) known() bool { return n.identified.Load() }

// fly sends the calls of f by client in one pipeline and settles each op. Removals that the node
// did not confirm stay pending.
func (n *node) fly(ctx context.Context, client redis.UniversalClient, f *flight) landing {
	putBack(f.stale) // first, or the pool might have to make a new one
	f.stale = nil
	if err := n.handshake(ctx); err != nil {
		f.silence = err
		for _, o := range f.ops {
			if to := n.instead(o, err); to != nil {
				f.moves = append(f.moves, move{o, to})
			} else if o.unsent(n.blame(err), isOutage(err)) {
				f.owed = append(f.owed, o)
			}
		}
		return failed
	}
	if len(f.ops) == 1 && n.shards == nil && !f.ops[0].asking {
		return n.flyOne(ctx, client, f)
	}
	for _, o := range f.ops {
		if n.forward(f, o) {
			continue
		}
		if call, ok := o.call(); ok {
			f.calls, f.sent = append(f.calls, call), append(f.sent, o)
		}
	}
	if len(f.sent) == 0 {
		return unsent
	}
	began := time.Now()
	f.run(ctx, client, n.batching.works.Load())
	if time.Since(began) < n.group.config.NodeTimeout { // or nobody waits any more
		f.unpack(ctx, client)
	}
	end := answered
	for i, o := range f.sent {
		r := f.results[i]
		if n.land(f, o, r.reply, r.err) == failed {
			end = failed
		}
	}
	return end
}

// forward sends o, which came to a Cluster's own lane, by the lane of its shard.
func (n *node) forward(f *flight, o *op) bool {
	if n.shards == nil || o.stray {
		return false
	}
	to := n.shards.lane(o.key())
	if to == n.lane {
		return false
	}
	f.moves = append(f.moves, move{o, to})
	return true
}

// land settles o, or passes it to another lane.
func (n *node) land(f *flight, o *op, reply any, err error) landing {
	f.answered = f.answered || err == nil || isRefusal(err)
	if to := n.elsewhere(o, err); to != nil {
		o.recall()
		f.moves = append(f.moves, move{o, to})
		return answered
	}
	if o.settle(n, reply, err) {
		f.owed = append(f.owed, o)
	}
	if err != nil {
		n.batching.failed(err)
		n.doubt(err)
		if isOutage(err) {
			f.silence = err
		}
		return failed
	}
	return answered
}

// flyOne is fly for a single op.
func (n *node) flyOne(ctx context.Context, client redis.UniversalClient, f *flight) landing {
	o := f.ops[0]
	call, ok := o.call()
	if !ok {
		return unsent
	}
	var reply any
	var err error
	if f.conn != nil {
		reply, err = call.Run(ctx, f.conn)
	} else {
		reply, err = call.Run(ctx, client)
	}
	return n.land(f, o, reply, err)
}

// address returns the name of a client in errors and logs.
func address(client redis.UniversalClient) string {
	switch c := client.(type) {
	case *redis.Client:
		return c.Options().Addr
	case *redis.ClusterClient:
		if addrs := c.Options().Addrs; len(addrs) > 0 {
			return "cluster " + strings.Join(addrs, ",")
		}
		return clusterClient
	default:
		return fmt.Sprintf("%T", client)
	}
}

// clusterClient is the address of a ClusterClient that was given none: it asks a Sentinel, or its
// creator's own function, for the servers.
const clusterClient = "ClusterClient"

// nameless reports whether other clients have the same address, though they are different nodes.
func (n *node) nameless() bool {
	c, plain := n.client.(*redis.Client)
	return plain && plainAddress(c) == "" || n.address == clusterClient
}

// isNil finds nil, and nil pointers in an interface that is not nil itself.
func isNil(client redis.UniversalClient) bool {
	if client == nil {
		return true
	}
	v := reflect.ValueOf(client)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

package redlock

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// A node is one independent Redis deployment, as the user's client reaches it.
type node struct {
	group   *Group
	client  redis.UniversalClient
	address string

	// Both share client's connections. A pipeline waits longer than its ballots do,
	// so that stragglers are still read; a caller's own command does not. Only a
	// plain client can be told how long to wait; with others, quick is nil.
	patient redis.UniversalClient
	quick   redis.UniversalClient

	batching batching

	met     atomic.Bool
	meeting sync.Mutex // one at a time meets the node
	refused error      // never to be asked again; guarded by meeting
}

func newNode(g *Group, client redis.UniversalClient, timeout time.Duration) *node {
	n := &node{group: g, client: client, patient: client, address: address(client)}
	if c, ok := client.(*redis.Client); ok {
		n.patient = c.WithTimeout(max(10*timeout, time.Second))
		n.quick = c.WithTimeout(timeout)
		n.batching.samples = g.config.Samples
	}
	return n
}

// connections is how many connections to one server the client keeps at the most.
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

// known tells whether the node has been met and may vote.
func (n *node) known() bool { return n.met.Load() }

// fly sends the calls of f by client in one pipeline and settles each op. Removals that
// the node did not confirm are given to owe.
func (n *node) fly(ctx context.Context, client redis.UniversalClient, f *flight, owe func(*op)) landing {
	if err := n.meet(ctx); err != nil {
		for _, o := range f.ops {
			if o.unsent(err) {
				owe(o)
			}
		}
		return failed
	}
	if len(f.ops) == 1 {
		return n.flyOne(ctx, client, f.ops[0], owe)
	}
	for _, o := range f.ops {
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
		if o.settle(r.reply, r.err) {
			owe(o)
		}
		if r.err != nil {
			end = failed
			n.batching.failed(r.err)
		}
	}
	return end
}

// flyOne is fly for what goes alone.
func (n *node) flyOne(ctx context.Context, client redis.UniversalClient, o *op, owe func(*op)) landing {
	call, ok := o.call()
	if !ok {
		return unsent
	}
	reply, err := call.Run(ctx, client)
	if o.settle(reply, err) {
		owe(o)
	}
	if err != nil {
		n.batching.failed(err)
		return failed
	}
	return answered
}

// address is what a client is called in errors and logs.
func address(client redis.UniversalClient) string {
	switch c := client.(type) {
	case *redis.Client:
		return c.Options().Addr
	case *redis.ClusterClient:
		return "cluster " + strings.Join(c.Options().Addrs, ",")
	default:
		return fmt.Sprintf("%T", client)
	}
}

// isNil finds nil, and nil pointers in an interface that is not nil itself.
func isNil(client redis.UniversalClient) bool {
	if client == nil {
		return true
	}
	v := reflect.ValueOf(client)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

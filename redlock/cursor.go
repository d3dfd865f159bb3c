package redlock

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/holdfast-go/holdfast/internal/cluster"
	"github.com/holdfast-go/holdfast/internal/server"
)

// A Cursor goes through the keys of one node, some of them with each step; for a Cluster, through
// all masters, one after the other. Keys that exist from the first step to the last are found, and
// may be found twice; keys that come or go meanwhile may be missed. That is what SCAN promises. It
// is for one goroutine.
//
// How far a server is means nothing to another one. If one takes its place, as after a failover or a
// restart, the step fails, and the server's other keys are not gone through. That is not noticed where
// the user may not run INFO.
type Cursor struct {
	node    *node
	match   string
	count   int
	begun   bool
	servers []*node // that are not done; the first one is being asked
	at      string  // how far that one is; "0": nowhere yet
	id      string  // its run_id then; "" if it does not tell
}

// Scan begins to go through the keys of the node at index i that match, a glob of Redis. With
// each step a server looks at about count keys.
func (g *Group) Scan(i int, match string, count int) *Cursor {
	return &Cursor{node: g.nodes[i], match: match, count: count, at: "0"}
}

// More reports whether there is another step.
func (c *Cursor) More() bool { return !c.begun || len(c.servers) > 0 }

// Next makes a step. After an error there may be more: another master of the Cluster is next.
func (c *Cursor) Next(ctx context.Context) ([]string, error) {
	if !c.begun {
		if err := c.begin(ctx); err != nil {
			return nil, err
		}
	}
	if len(c.servers) == 0 {
		return nil, nil
	}
	n := c.servers[0]
	at, id := c.at, c.id
	page, err := within(ctx, patience(c.node.group.config.NodeTimeout), func(ctx context.Context) (page, error) {
		return n.scan(ctx, at, c.match, c.count)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && at != "0" && page.id != id {
		err = errReplaced
	}
	c.at, c.id = page.next, page.id
	if err != nil || page.next == "0" {
		c.servers, c.at = c.servers[1:], "0"
	}
	return page.keys, n.blame(err)
}

// begin finds the servers. A Cluster, or a Sentinel, that does not tell its masters now has told some
// before. The error comes first, because a master that is not known is missed; then the known ones are gone
// through.
func (c *Cursor) begin(ctx context.Context) error {
	servers, err := within(ctx, c.node.patience(), c.node.masters)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && c.node.shards != nil && c.node.known() {
		servers = c.node.shards.servers()
		err = fmt.Errorf("which masters it has now: %w", err)
	}
	c.begun, c.servers = true, servers
	return c.node.blame(err)
}

// masters returns the servers that have the keys of n: n itself, unless it is a Cluster. n has had
// its handshake, so that another node's server is not taken for it.
func (n *node) masters(ctx context.Context) ([]*node, error) {
	if err := n.handshake(ctx); err != nil {
		return nil, err
	}
	client, ok := n.client.(cluster.Client)
	if !ok {
		return []*node{n}, nil
	}
	masters, err := cluster.Masters(ctx, client)
	servers := make([]*node, len(masters))
	for i, master := range masters {
		servers[i] = newShard(n, master)
	}
	sortByAddress(servers)
	return servers, err
}

func sortByAddress(servers []*node) {
	slices.SortFunc(servers, func(a, b *node) int { return cmp.Compare(a.address, b.address) })
}

// A page is what one step finds.
type page struct {
	keys []string
	next string // where the next step begins; "0": there is none
	id   string // the run_id of the server that it is of; "" if that does not tell
}

// scan makes a step on one server, and asks over the same connection which one that is. go-redis may
// do so again where the connection has broken: it reads only.
func (n *node) scan(ctx context.Context, at, match string, count int) (page, error) {
	pipe := n.patient.Pipeline()
	cmd := pipe.Do(ctx, "scan", at, "match", match, "count", count)
	about := pipe.Info(ctx, "server")
	_, _ = pipe.Exec(ctx)
	if err := cmd.Err(); err != nil {
		return page{}, err
	}
	reply, _ := cmd.Val().([]any)
	if len(reply) != 2 {
		return page{}, fmt.Errorf("redlock: unexpected reply to SCAN: %v", cmd.Val())
	}
	next, ok := reply[0].(string)
	keys, ok2 := reply[1].([]any)
	if !ok || !ok2 {
		return page{}, fmt.Errorf("redlock: unexpected reply to SCAN: %v", reply)
	}
	found := page{next: next, keys: make([]string, 0, len(keys)), id: server.Fields(about.Val())["run_id"]}
	for _, key := range keys {
		if key, ok := key.(string); ok {
			found.keys = append(found.keys, key)
		}
	}
	return found, nil
}

// Quorate returns nil if the nodes without an error are a quorum; errs has one entry for each node.
// Otherwise it returns a [*NoQuorumError] about op.
func (g *Group) Quorate(op string, errs []error) error {
	e := &NoQuorumError{Op: op, Need: g.quorum}
	for i, err := range errs {
		if err == nil {
			e.Agreed++
		}
		e.Nodes = append(e.Nodes, NodeAnswer{Address: g.Address(i), Agreed: err == nil, Err: err})
	}
	if e.Agreed >= g.quorum {
		return nil
	}
	return e
}

package redlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/server"
	"github.com/holdfast-go/holdfast/lua"
)

// least is the oldest version of Redis that has every command of the scripts: ZMSCORE came
// with it. Batches need 7.0, and are not used before.
var least = [2]int{6, 2}

// watch makes client, a copy of the user's client with its own time limit, ask each new connection
// whose server it has reached: the address may be another node's by then. Connections that the user's
// client makes for its own commands are not checked. In a group of one node, no other node could count
// the server, too.
func (n *node) watch(client *redis.Client) *redis.Client {
	if n.group.quorum == 1 {
		return client
	}
	server.OnConnect(client, func(ctx context.Context, conn *redis.Conn) error {
		about, err := info(ctx, conn, "server")
		if err != nil || about["run_id"] == "" {
			return err
		}
		return n.group.register(n, about["run_id"])
	})
	return client
}

// register claims the server called id for n, for as long as the group lives, because connections
// to it may live so long, too.
func (g *Group) register(n *node, id string) error {
	n = n.root()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch other := g.identities[id]; {
	case other == n:
		return nil
	case other != nil:
		return &duplicateError{other.address, n.address}
	}
	g.identities[id] = n
	if n.servers++; n.servers > 1 {
		g.config.Back()
	}
	return nil
}

// identify finds out which server the node is, and whether it can vote. A Cluster's servers are met
// one by one.
func (n *node) identify(ctx context.Context) error {
	if n.shards != nil {
		return n.shards.handshake(ctx)
	}
	var replication map[string]string
	var warm sync.WaitGroup
	warm.Go(func() { replication = warmUp(ctx, n.patient) })
	about, err := info(ctx, n.patient, "server")
	warm.Wait()
	if err != nil {
		return err
	}
	if err := n.fit(about, replication); err != nil {
		return err
	}
	if about["redis_mode"] == "cluster" {
		if err := n.undivided(ctx); err != nil {
			return err
		}
	}
	id := about["run_id"]
	if c, ok := n.client.(*redis.Client); ok && id == "" {
		id = plainAddress(c)
	}
	if id == "" {
		return nil
	}
	return n.group.register(n, id)
}

// fit returns why a server cannot vote, or nil. A server that tells nothing may vote.
func (n *node) fit(about, replication map[string]string) error {
	if version := about["redis_version"]; version != "" && older(version) {
		return fmt.Errorf("%w: %s runs Redis %s, the minimum is %d.%d", ErrUnfit, n.address, version, least[0], least[1])
	}
	// Only a Cluster and a Sentinel know which servers are replicas, and they may take a moment to
	// say so.
	if c, ok := n.client.(*redis.Client); ok && n.of == nil && c.Options().Addr != failover && replication["role"] == "slave" {
		return fmt.Errorf("%w: %s is a replica (role:slave) of %s:%s; give its master", ErrUnfit, n.address,
			replication["master_host"], replication["master_port"])
	}
	return nil
}

// undivided returns why a server of a Cluster that was given by itself cannot vote, or nil: it sends
// clients elsewhere for other masters' names. A server that has all slots can vote, and so can a proxy
// that finds them. Both answer about every name, so they are asked, rather than for their slots.
func (n *node) undivided(ctx context.Context) error {
	cmds := make([]redis.Cmder, 0, len(n.batching.samples)) // none for a shard
	for _, s := range n.batching.samples {
		cmds = append(cmds, s.SourceCmd(ctx))
	}
	if len(cmds) == 0 {
		return nil
	}
	send(ctx, n.patient, cmds)
	for _, cmd := range cmds {
		err := cmd.Err()
		switch {
		case err == nil:
		case !isRefusal(err):
			return err
		case strings.HasPrefix(err.Error(), "MOVED"):
			return fmt.Errorf("%w: %s is one server of a Cluster and does not have all names (%v); give a ClusterClient",
				ErrUnfit, n.address, err.Error())
		}
	}
	return nil
}

// older reports whether version is less than least. A version that cannot be read is not.
func older(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	for i, part := range parts[:2] {
		if have, err := strconv.Atoi(part); err != nil || have != least[i] {
			return err == nil && have < least[i]
		}
	}
	return false
}

// warmUp asks for the role over a connection for pipelines, for which go-redis has a separate pool.
// Opening one takes four round trips, which may be more than a node timeout: the first hand-over
// would be too late.
func warmUp(ctx context.Context, client redis.UniversalClient) map[string]string {
	cmd := lua.NewCmd(ctx, "info", "replication")
	send(ctx, client, []redis.Cmder{cmd}) // refused or not
	text, _ := cmd.Text()
	return server.Fields(text)
}

// info asks a server for a section of INFO. It is empty if the server does not tell.
func info(ctx context.Context, client interface {
	Process(context.Context, redis.Cmder) error
}, section string) (map[string]string, error) {
	cmd := lua.NewCmd(ctx, "info", section)
	if err := client.Process(ctx, cmd); err != nil {
		var refusal redis.Error
		if errors.As(err, &refusal) && !strings.HasPrefix(refusal.Error(), "LOADING") {
			return nil, nil
		}
		return nil, err
	}
	text, _ := cmd.Text()
	return server.Fields(text), nil
}

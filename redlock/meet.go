package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

// Meet connects to every node and returns nil if a quorum can vote. Nodes that are
// missing are met later, when they can be reached. A node that never could vote, as
// it is another one's server or refuses scripts, is an error even beside a quorum.
func (g *Group) Meet(ctx context.Context) error {
	b, err := g.Decide(ctx, Motion{
		Name:     "connect",
		Call:     lua.Probe{}.Call(),
		Yes:      func(any) (bool, error) { return true, nil },
		All:      true,
		Patience: patience(g.config.NodeTimeout),
	})
	if err != nil {
		return err
	}
	var missing []string
	for i, n := range g.nodes {
		a := b.Answer(i)
		switch {
		case a.Vote == Yes:
		case errors.Is(a.Err, ErrDuplicateNode):
			return a.Err
		case isFinal(a.Err):
			return fmt.Errorf("redlock: node %s runs no scripts for this user: %w", n.address, a.Err)
		default:
			missing = append(missing, fmt.Sprintf("%s (%v)", n.address, a.Err))
		}
	}
	if !b.Won() {
		return b.Err()
	}
	if len(missing) > 0 {
		g.config.Logger.WarnContext(ctx, "redlock: starting without some nodes",
			"nodes", len(g.nodes), "quorum", g.quorum, "missing", missing)
	}
	return nil
}

// patience is for what is not once per lock: longer than a command takes.
func patience(nodeTimeout time.Duration) time.Duration { return max(5*nodeTimeout, time.Second) }

// final are the refusals that asking again does not change. Servers before Redis 7
// put what went wrong inside a script into the middle of a longer sentence, and later
// ones word it differently.
var final = []string{
	"NOPERM", "NOAUTH", "WRONGPASS", "WRONGTYPE", "CROSSSLOT", "unknown command",
	"The user executing the script", "ACL failure in script", "fencing counter is not a number",
}

// isFinal tells a refusal for good from one that passes, such as LOADING.
func isFinal(err error) bool {
	if errors.Is(err, redis.ErrClosed) {
		return true // by whoever made the client
	}
	var refusal redis.Error
	if !errors.As(err, &refusal) {
		return false
	}
	return slices.ContainsFunc(final, func(s string) bool { return strings.Contains(refusal.Error(), s) })
}

// meet learns, once, which server the node is. Until then it has no vote: the same
// server under two addresses must not vote twice (trap 18).
func (n *node) meet(ctx context.Context) error {
	if n.met.Load() {
		return nil
	}
	n.meeting.Lock()
	defer n.meeting.Unlock()
	if n.met.Load() || n.refused != nil {
		return n.refused
	}
	ctx, cancel := context.WithTimeout(ctx, patience(n.group.config.NodeTimeout))
	defer cancel()
	ids, err := n.servers(ctx)
	if err != nil {
		return err
	}
	if n.refused = n.group.register(n, ids); n.refused == nil {
		n.met.Store(true)
	}
	return n.refused
}

// register claims the servers called ids for n.
func (g *Group) register(n *node, ids []string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		if other := g.identities[id]; other != nil && other != n {
			return fmt.Errorf("%w: %s and %s", ErrDuplicateNode, other.address, n.address)
		}
	}
	for _, id := range ids {
		g.identities[id] = n
	}
	return nil
}

// servers returns what identifies the servers behind the node: one, or a Cluster's masters.
func (n *node) servers(ctx context.Context) ([]string, error) {
	switch c := n.client.(type) {
	case *redis.Client:
		var warm sync.WaitGroup
		warm.Go(func() { warmUp(ctx, n.patient) })
		id, err := runID(ctx, n.patient)
		warm.Wait()
		if err == nil && id == "" {
			id = plainAddress(c)
		}
		return list(id), err
	case interface {
		ForEachMaster(context.Context, func(context.Context, *redis.Client) error) error
	}:
		var mu sync.Mutex
		var ids []string
		err := c.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
			id, err := runID(ctx, master)
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, list(id)...)
			return err
		})
		return ids, err
	default:
		id, err := runID(ctx, n.client)
		return list(id), err
	}
}

// warmUp makes a connection for pipelines, for which go-redis has a pool of its own. To make
// one takes four round trips, which may be more than a node timeout: the first hand-over
// would be too late.
func warmUp(ctx context.Context, client redis.UniversalClient) {
	send(ctx, client, []redis.Cmder{lua.NewCmd(ctx, "ping")}) // refused or not
}

// runID asks a server for its run_id: one start of one server process. It is empty
// where the server does not tell.
func runID(ctx context.Context, client redis.UniversalClient) (string, error) {
	cmd := lua.NewCmd(ctx, "info", "server")
	if err := client.Process(ctx, cmd); err != nil {
		var refusal redis.Error
		if errors.As(err, &refusal) && !strings.HasPrefix(refusal.Error(), "LOADING") {
			return "", nil
		}
		return "", err
	}
	text, _ := cmd.Text()
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(line, "run_id:"); ok {
			return strings.TrimSpace(id), nil
		}
	}
	return "", nil
}

// plainAddress identifies a server that does not tell its run_id. The default
// address says nothing: clients with a dialer of their own all have it.
func plainAddress(c *redis.Client) string {
	switch o := c.Options(); o.Addr {
	case "localhost:6379", "FailoverClient":
		return ""
	default:
		return o.Network + " " + o.Addr
	}
}

func list(id string) []string {
	if id == "" {
		return nil
	}
	return []string{id}
}

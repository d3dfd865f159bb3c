package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

// maxHandshakes is how often nodes are asked if so many are silent that there is no quorum. If all
// processes of a service start at once, on a machine with too few cores for them, this process
// itself is late.
const maxHandshakes = 5

// handshakes is how often that is. A Cluster that is asked for longer is asked less often.
func (g *Group) handshakes() int {
	longest := time.Duration(1)
	for _, n := range g.nodes {
		longest = max(longest, n.patience())
	}
	all := maxHandshakes * patience(g.config.NodeTimeout)
	return int((all + longest - 1) / longest)
}

// Handshake connects to every node and returns nil if a quorum can vote. Missing nodes have theirs
// later, when they can be reached. If a node can never vote, because it is another node's server or
// refuses scripts, Handshake returns an error even if there is a quorum.
func (g *Group) Handshake(ctx context.Context) error {
	for tries, most := 1, g.handshakes(); ; tries++ {
		b, err := g.Decide(ctx, Motion{
			Name:       "connect",
			Call:       lua.Probe{}.Call(),
			Yes:        func(any) (bool, error) { return true, nil },
			All:        true,
			handshakes: true,
		})
		if err != nil {
			return err
		}
		err = g.met(ctx, b)
		if !errors.Is(err, ErrNoQuorum) || !errors.Is(err, ErrSilent) || tries == most {
			return err
		}
	}
}

// met returns the result of a handshake.
func (g *Group) met(ctx context.Context, b *Ballot) error {
	var missing []string
	for i, n := range g.nodes {
		a := b.Answer(i)
		switch {
		case a.Vote == Yes:
		case isUnfit(a.Err):
			return a.Err
		case isFinal(a.Err):
			return fmt.Errorf("redlock: node %s refuses this user: %w", n.address, a.Err)
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

// patience is how long a handshake with the node may take. A ClusterClient may first ask a stuck
// server for the other servers, and waits for it as long as it is configured to.
func (n *node) patience() time.Duration {
	p := patience(n.group.config.NodeTimeout)
	if n.shards != nil {
		p += n.shards.client.Options().ReadTimeout
	}
	return p
}

// handshakeAgain is the pause before a refused node is asked again.
const handshakeAgain = time.Second

// patience is for steps that do not happen with every lock: it is longer than a command takes.
func patience(nodeTimeout time.Duration) time.Duration { return max(5*nodeTimeout, time.Second) }

// final are the refusals that do not change when the request is repeated. Servers before Redis 7
// put an error inside a script into the middle of a longer sentence, and later servers word it
// differently.
var final = []string{
	"NOPERM", "NOAUTH", "WRONGPASS", "WRONGTYPE", "CROSSSLOT", "unknown command", "Unknown Redis command", "Unknown command",
	"The user executing the script", "ACL failure in script", "fencing counter is not a number", "does not tell its uptime",
}

// isFinal distinguishes a permanent refusal from one that passes, such as LOADING.
func isFinal(err error) bool {
	if errors.Is(err, redis.ErrClosed) {
		return true // by the creator of the client
	}
	var refusal redis.Error
	if !errors.As(err, &refusal) {
		return false
	}
	return slices.ContainsFunc(final, func(s string) bool { return strings.Contains(refusal.Error(), s) })
}

// handshake finds out which server the node is. Until then it has no vote: the same server under
// two addresses must not vote twice (trap 18). It is repeated if the server turned out to be
// another node's.
func (n *node) handshake(ctx context.Context) error {
	if n.identified.Load() {
		return nil
	}
	select {
	case n.handshaking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-n.handshaking }()
	if n.identified.Load() {
		return nil
	}
	if n.refused != nil && time.Since(n.refusedAt) < handshakeAgain {
		return n.refused
	}
	bounded, cancel := context.WithTimeout(ctx, n.patience())
	defer cancel()
	err := n.identify(bounded)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = ErrSilent
	}
	n.refused = nil
	if err == nil {
		n.identified.Store(true)
	} else if isUnfit(err) {
		n.refused, n.refusedAt = err, time.Now()
	}
	return err
}

// doubt starts another handshake if one of the node's connections led to another node's server. The
// other connections, which lead to its own server, were checked when they were made.
func (n *node) doubt(err error) {
	if !errors.Is(err, ErrDuplicateNode) {
		return
	}
	n.handshaking <- struct{}{}
	defer func() { <-n.handshaking }()
	n.identified.Store(false)
	n.refused, n.refusedAt = err, time.Now()
}

// isUnfit reports whether a server said what keeps it from voting.
func isUnfit(err error) bool { return errors.Is(err, ErrDuplicateNode) || errors.Is(err, ErrUnfit) }

// failover is go-redis' name for the address of a client that asks a Sentinel.
const failover = "FailoverClient"

// plainAddress identifies a server that does not tell its run_id. The default address identifies
// nothing: all clients with their own dialer have it.
func plainAddress(c *redis.Client) string {
	switch o := c.Options(); o.Addr {
	case "localhost:6379", failover:
		return ""
	default:
		return o.Network + " " + o.Addr
	}
}

package redlock

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/cluster"
)

const (
	// idleShard is how long a shard's lane may have nothing to send before it is closed when
	// another one must be opened: masters come and go with each failover.
	idleShard = time.Minute
	// reloadAfter is how often the client is asked to look at the Cluster again.
	reloadAfter = 500 * time.Millisecond
)

// shards are the masters of a Cluster, which is one node: each name lives on one of them. Each has
// a lane of its own, so that a stuck master holds up no name of another. A command goes to the lane
// of the master that the user's client considers responsible for its key.
//
// That may be the wrong master: slots move, and replicas take over. The server then says where to
// go, and the command goes to that lane; see redirect. A command that was sent later may then run
// before it, as if the lane had been stuck: nothing relies on the order there.
//
// The node's own lane remains for commands without a shard: those from before the Cluster was
// known, and those for a server that the client has not heard of yet. The ClusterClient routes
// these.
type shards struct {
	node   *node
	client *redis.ClusterClient

	mu        sync.RWMutex
	closed    bool
	lanes     map[*redis.Client]*lane // of masters, and of replicas that may have taken over
	byAddress map[string]*lane
	retired   []*lane // closed, but not joined; they have nothing more to send
	reloaded  time.Time
}

func newShards(n *node, client *redis.ClusterClient) *shards {
	return &shards{
		node:      n,
		client:    client,
		lanes:     make(map[*redis.Client]*lane),
		byAddress: make(map[string]*lane),
	}
}

// lane returns the lane to the master of key. It never blocks once the Cluster is known: from then
// on the client remembers its masters.
func (s *shards) lane(key string) *lane {
	if !s.node.known() {
		return s.node.lane
	}
	if key == "" {
		return s.any()
	}
	l := s.own(key)
	if replica := l.replica.Load(); replica != nil && !replica.isSilent() {
		return replica
	}
	return l
}

// own returns the lane to the server that the client considers to be the master of key.
func (s *shards) own(key string) *lane {
	master, err := s.client.MasterForKey(s.node.group.ctx, key)
	if err != nil {
		return s.node.lane
	}
	return s.laneOf(master)
}

// laneOf returns the lane to one master.
func (s *shards) laneOf(master *redis.Client) *lane {
	s.mu.RLock()
	l := s.lanes[master]
	s.mu.RUnlock()
	if l != nil {
		return l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lanes[master]; l != nil {
		return l
	}
	if s.closed {
		return s.node.lane // which is closed, too
	}
	s.retire()
	l = newLane(newShard(s.node, master), s.node.group.config.NodeTimeout)
	s.lanes[master] = l
	s.byAddress[l.node.address] = l
	return l
}

// any returns the lane to some known master, for commands without a key.
func (s *shards) any() *lane {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.lanes {
		if l.node.known() && !l.ails() {
			return l
		}
	}
	return s.node.lane
}

// retire closes the lanes that nobody has used for a while. Called with mu held.
func (s *shards) retire() {
	for _, l := range s.retired {
		l.join() // at once: it was closed a while ago, or has only to be told
	}
	s.retired = nil
	for master, l := range s.lanes {
		if !l.retire(time.Now().Add(-idleShard)) {
			continue
		}
		delete(s.lanes, master)
		s.unlink(l)
		s.retired = append(s.retired, l)
	}
}

// unlink has no command follow anything but the client to l. Called with mu held.
func (s *shards) unlink(l *lane) {
	for _, other := range s.lanes {
		other.replica.CompareAndSwap(l, nil)
	}
	if s.byAddress[l.node.address] == l {
		delete(s.byAddress, l.node.address)
	}
}

// abandon is unlink for a lane whose client is closed.
func (s *shards) abandon(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlink(l)
}

// all returns the lanes that are open.
func (s *shards) all() []*lane {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Values(s.lanes))
}

// servers returns those that have a lane, for steps without one.
func (s *shards) servers() []*node {
	s.mu.RLock()
	defer s.mu.RUnlock()
	servers := make([]*node, 0, len(s.lanes))
	for master := range s.lanes {
		servers = append(servers, newShard(s.node, master))
	}
	sortByAddress(servers)
	return servers
}

// close closes every lane, and prevents new ones.
func (s *shards) close() []*lane {
	s.mu.Lock()
	s.closed = true
	all := s.retired
	for _, l := range s.lanes {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		l.close()
	}
	return all
}

// reload makes the client look at the Cluster again, soon and beside the caller. It does that by itself once a
// minute, but not when a master is gone. It has one look at a time, and another one after that if it was asked
// meanwhile. Nobody asks while nothing is wanted of a master that is gone; while something is, two questions a
// second cost the other servers nothing.
func (s *shards) reload() {
	now := time.Now()
	s.mu.Lock()
	due := now.Sub(s.reloaded) >= reloadAfter && !s.closed
	if due {
		s.reloaded = now
	}
	s.mu.Unlock()
	if due {
		s.client.ReloadState(s.node.group.ctx)
	}
}

// handshake meets every master that can be reached, and fails if none can. The others have theirs
// when they are back: commands about their slots fail until then.
func (s *shards) handshake(ctx context.Context) error {
	masters, err := cluster.Masters(ctx, s.client)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	met := make(chan *lane, len(masters))
	errs := make(map[*lane]error, len(masters))
	for _, master := range masters {
		l := s.laneOf(master)
		s.node.lane.runners.Go(func() {
			err := l.node.handshake(ctx)
			mu.Lock()
			errs[l] = err
			mu.Unlock()
			met <- l
		})
	}
	// A stuck master does not answer for a long time. As soon as another master can vote, so can
	// the Cluster.
	var grace <-chan time.Time
	for range masters {
		select {
		case l := <-met:
			if l.node.known() && grace == nil {
				grace = time.After(s.node.group.config.NodeTimeout)
			}
			continue
		case <-grace:
		case <-ctx.Done():
		}
		break
	}
	mu.Lock()
	defer mu.Unlock()
	return s.outcome(ctx, masters, errs)
}

// outcome returns the result of the handshakes with masters.
func (s *shards) outcome(ctx context.Context, masters []*redis.Client, errs map[*lane]error) error {
	var missing []string
	var first error
	var well *redis.Client
	for _, master := range masters {
		l := s.laneOf(master)
		err, over := errs[l]
		switch {
		case over && err == nil:
			well = master
			continue
		case !over:
			err = l.node.silent()
		case isFinal(err), isUnfit(err):
			return err
		}
		if first == nil {
			first = err
		}
		missing = append(missing, l.node.address)
	}
	if well == nil {
		if first == nil {
			first = fmt.Errorf("no server of the Cluster has any slots")
		}
		return first
	}
	if len(missing) > 0 {
		s.node.group.config.Logger.WarnContext(ctx, "redlock: some masters of a Cluster cannot be reached: names in their slots cannot be locked",
			"node", s.node.address, "missing", s.slots(ctx, well, missing), "error", first)
	}
	return nil
}

// slots names the masters at addresses with their slots, as far as well knows them.
func (s *shards) slots(ctx context.Context, well *redis.Client, addresses []string) []string {
	ranges := make(map[string][]string)
	slots, _ := well.ClusterSlots(ctx).Result() //nolint:staticcheck // CLUSTER SHARDS came with Redis 7; without an answer the addresses must do
	for _, r := range slots {
		if len(r.Nodes) > 0 {
			ranges[r.Nodes[0].Addr] = append(ranges[r.Nodes[0].Addr], fmt.Sprintf("%d-%d", r.Start, r.End))
		}
	}
	named := slices.Clone(addresses)
	for i, address := range addresses {
		if r := ranges[address]; r != nil {
			named[i] = fmt.Sprintf("%s (slots %s)", address, strings.Join(r, ","))
		}
	}
	return named
}

package lock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/waiter"
	"github.com/holdfast-go/holdfast/watchdog"
)

// NewClient creates a client for nodes: one Redis, or N independent ones of which a quorum of N/2+1
// must agree. A node is a plain client, a Sentinel failover client or a ClusterClient, with any
// options; the lock client never closes it. A Ring is refused: when one of its servers fails, it
// moves names to another server, even if they are locked.
//
// Hooks (AddHook) do not see the commands of locks, whenever they were added: the commands are sent by
// copies of the clients with their own time limits, to which go-redis does not copy hooks. There are
// two exceptions. Your client makes the connections, so its dial hooks see them. A hook of a ClusterClient
// sees commands whose server the ClusterClient does not know yet: such a hook must not send them twice or
// hold them up. To observe locks, use [WithObserver].
//
// NewClient connects to the nodes. It succeeds if a quorum answers, logs which nodes are missing,
// and connects to them once they can be reached. A Cluster counts if any of its masters answers;
// the log says which slots the missing masters have. NewClient returns an error that names the
// problem if a node can never vote: a nil client, a Ring, the same server twice, a replica, a
// server that is older than Redis 6.2 or refuses scripts, or a plain client for one of several masters
// of a Cluster. A failover client with ReplicaOnly can never vote either, but go-redis does not reveal
// that option: do not set it.
//
// If nodes are silent, NewClient waits about 5 seconds for a quorum, and fails a second later; for a
// ClusterClient, it may fail as much as its ReadTimeout later. For
// nodes that refuse connections it waits only while go-redis dials again, which is less than a
// second unless DialerRetries or DialerRetryTimeout say otherwise. A failover client whose Sentinels do not
// tell of a master counts as silent, even if they refuse connections: it asks them again for seconds.
func NewClient(nodes []redis.UniversalClient, opts ...ClientOption) (*Client, error) {
	s := defaults()
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("lock: an option is nil")
		}
		o.client(&s)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	log := newJournal(s.logger)
	back := newRecovery()
	seen := newAudience(s.observers, log)
	group, err := redlock.New(nodes, redlock.Config{
		NodeTimeout: s.nodeTimeout,
		DriftFactor: s.driftFactor,
		DriftFixed:  s.driftFixed,
		Logger:      log.Logger,
		Samples:     samples(s.prefix),
		Back:        back.due,
		Answered:    seen.listener(),
	})
	if err != nil {
		return nil, err
	}
	c := &Client{recovery: back, core: core{
		id:        uuid.NewString(),
		group:     group,
		locks:     s.locks,
		prefix:    s.prefix,
		retention: s.retention,
		guard:     s.guard,
		journal:   log,
		audience:  seen,
		calls:     newTally(),
		closing:   make(chan struct{}),
		idle:      make(chan struct{}),
		gone:      make(chan struct{}),
		newcomers: make(chan struct{}, maxAsking),
		returners: make(chan struct{}, maxAsking),
		label:     s.label,
		labelled:  s.labelled,
		fails:     s.fails,
		channels:  lua.ClientChannels(s.prefix),
		alone:     !group.Clustered(),
		contests:  make(map[contestKey]*contest),
		queuers:   make(map[string]*place),
		shared:    make(map[string]*tenure),
	}}
	c.given = make([]atomic.Uint32, group.Size())
	if seen != nil {
		seen.nodes = group.Addresses()
	}
	if err := c.locks.check(&c.core); err != nil {
		group.Close()
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := group.Handshake(context.Background()); err != nil {
		group.Close()
		return nil, fmt.Errorf("lock: %w", err)
	}
	c.hub = waiter.New(nodes, group.Quorum(), log.Logger, group.Addresses()...)
	c.watchdog = watchdog.New(renew)
	c.probe = newProbe(&c.core, back, s.probePause)
	c.begun = c.probe.begin
	back.begin(&c.core)
	c.logGuarded()
	return c, nil
}

// logGuarded logs which nodes the restart guard keeps out at the start.
func (c *Client) logGuarded() {
	if c.guard == 0 {
		return
	}
	var out, unguarded []string
	for _, n := range c.Health(context.Background()) {
		switch {
		case lua.IsUnguarded(n.Err):
			unguarded = append(unguarded, n.Address)
		case errors.Is(n.Err, ErrRestarted):
			out = append(out, n.Address)
		}
	}
	if len(unguarded) > 0 {
		c.journal.Warn("lock: nodes that do not tell their uptime never vote, because of the restart guard; it needs INFO",
			"nodes", unguarded, "guard", c.guard)
	}
	if len(out) > 0 {
		c.journal.Warn("lock: nodes that started recently do not vote yet, because of the restart guard",
			"nodes", out, "guard", c.guard)
	}
}

// samples ask about so many names that whatever spreads keys over servers would hardly have
// all of them on one, even if one of them takes most.
func samples(prefix string) []lua.Call {
	calls := make([]lua.Call, lua.MaxBatch)
	for i := range calls {
		calls[i] = lua.Server{Keys: sampleKeys(prefix, i)}.Call()
	}
	return calls
}

// maxAsking bounds the queuers that ask at the same moment, for the first time and again. Tens of
// thousands would wait for each other's answers until these are too late. They would also hold up
// the signs of life of other waiters, which would then have to ask, too.
const maxAsking = 1024

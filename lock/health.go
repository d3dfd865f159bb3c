package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// A NodeHealth is the state of one node, seen from this client.
type NodeHealth struct {
	Address string
	Up      bool  // it answered, if only with an error
	Votes   bool  // it would grant a free lock
	Err     error // why it does not vote; nil if it does
}

// Health asks every node for its state, and returns the answers in the order in which the nodes
// were given to [NewClient]. It takes no lock, writes nothing, and takes no longer than the node timeout. A node
// that refuses writes, such as one that is full or has become a replica, does not vote. Nor does one where the
// user may not run a command that a mutex needs; before Redis 7.0, Health can find that out only for SET. A node
// that has not answered when ctx ends counts as silent. [Spare] tells how many more nodes may fail. The nodes of a closed
// client are not asked: none votes.
//
// Of a Cluster, every master is asked. The Cluster is up if any of them answers, so that some names can be locked, and
// votes if all of them would grant a lock. Err names one of those that would not.
func (c *Client) Health(ctx context.Context) []NodeHealth {
	health := make([]NodeHealth, c.group.Size())
	for i := range health {
		health[i] = NodeHealth{Address: c.group.Address(i), Err: ErrClosed}
	}
	if c.enter() != nil {
		return health
	}
	defer c.leave()
	spots := c.spots()
	ballots := make([]*redlock.Ballot, len(spots))
	for k, s := range spots {
		ballots[k] = c.group.Vote(redlock.Motion{
			Name: "health",
			Call: lua.Ready{Keys: s.keys, Guard: c.guard}.Call(),
			Yes:  lua.ParseReady,
			All:  true,
			Skip: func(i int) bool { return !s.news[i] },
		})
	}
	answers := make([][]redlock.Answer, len(health)) // of each node's servers
	for k, b := range ballots {
		_ = b.Wait(ctx)
		given, _ := b.SoFar() // the ballot continues if ctx has ended before all had answered
		for i, a := range given {
			if !spots[k].news[i] {
				continue
			}
			if a.Vote == redlock.Pending {
				a.Err = contextError(ctx)
			}
			answers[i] = append(answers[i], a)
		}
	}
	for i := range health {
		health[i].take(answers[i])
	}
	return health
}

// take records what the servers of a node have answered.
func (h *NodeHealth) take(answers []redlock.Answer) {
	against := 0
	h.Err = nil
	for _, a := range answers {
		h.Up = h.Up || reached(a)
		if a.Vote == redlock.Yes {
			continue
		}
		if against++; against == 1 {
			h.Err = a.Err
		}
	}
	h.Votes = against == 0
	if against > 0 && len(answers) > 1 {
		h.Err = fmt.Errorf("%d of %d masters would grant no lock: %w", against, len(answers), h.Err)
	}
}

// A spot is a name that nobody locks, and tells of which nodes it leads to a server to which no spot before it did.
type spot struct {
	keys lua.Keys
	news []bool
}

// maxSpots is so many that they lead to each master of a Cluster, unless it has hardly any slots.
const maxSpots = 1024

// spots returns names that lead to all servers of which the nodes consist.
func (c *Client) spots() (spots []spot) {
	n := 1
	if c.group.Clustered() {
		n = maxSpots
	}
	seen := make(map[redlock.Server]bool)
	for k := range n {
		s := spot{sampleKeys(c.prefix, k), make([]bool, c.group.Size())}
		for i := range s.news {
			server := c.group.Server(i, s.keys.Lock)
			s.news[i] = !seen[server]
			seen[server] = true
		}
		if slices.Contains(s.news, true) {
			spots = append(spots, s)
		}
	}
	return spots
}

// sampleKeys returns keys that are never there. The options were checked, so the prefix is sound.
func sampleKeys(prefix string, k int) lua.Keys {
	keys, _ := lua.NewKeys(prefix, "sample-"+strconv.Itoa(k))
	return keys
}

// reached reports whether a node answered, if only with an error.
func reached(a redlock.Answer) bool {
	var refusal redis.Error
	return a.Reply != nil || errors.As(a.Err, &refusal)
}

// Spare returns how many more nodes may fail before too few are left to vote. The result is
// negative if too few are left already: that many must come back.
func Spare(nodes []NodeHealth) int {
	votes := 0
	for _, n := range nodes {
		if n.Votes {
			votes++
		}
	}
	return votes - (len(nodes)/2 + 1)
}

package lock

import (
	"context"
	"errors"

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
// that refuses writes, such as one that is full or has become a replica, does not vote. A node that has
// not answered when ctx ends counts as silent. [Spare] tells how many more nodes may fail. For a
// Cluster, one of the masters is asked, always the one that has a certain slot. The nodes of a closed client are not
// asked: none votes.
func (c *Client) Health(ctx context.Context) []NodeHealth {
	health := make([]NodeHealth, c.group.Size())
	for i := range health {
		health[i] = NodeHealth{Address: c.group.Address(i), Err: ErrClosed}
	}
	keys, err := lua.NewKeys(c.prefix, "sample-0") // which nobody holds
	if err == nil {
		err = c.enter()
	}
	if err != nil {
		return health
	}
	defer c.leave()
	b, err := c.group.Decide(ctx, redlock.Motion{
		Name: "health",
		Call: lua.Ready{Keys: keys, Guard: c.guard}.Call(),
		Yes:  lua.ParseReady,
		All:  true,
	})
	for i := range health {
		h := &health[i]
		if err != nil { // ctx ended before all had answered; the ballot continues
			h.Err = contextError(ctx)
			continue
		}
		a := b.Answer(i)
		h.Up = reached(a)
		h.Votes, h.Err = a.Vote == redlock.Yes, a.Err
	}
	return health
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

package fifo

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

// A Place is one waiter's in the queue of one node.
type Place struct {
	Hold   string
	Ticket int64
}

// Settled tells whose place is fixed: every node that answered has it, and a quorum has
// it with the greatest ticket that any of them has. queues are those nodes'.
//
// It may be late to tell, and for one whose enqueue some nodes were never told of it
// waits for ever. A quorum alone would be too early: the waiter may have heard a greater
// proposal of another node, which it is about to state.
func Settled(queues [][]Place, quorum int) []string {
	type standing struct {
		ticket int64
		equal  int // nodes that have it with ticket
		nodes  int
	}
	standings := make(map[string]standing)
	var order []string
	for _, queue := range queues {
		for _, p := range queue {
			s, known := standings[p.Hold]
			switch {
			case !known:
				order = append(order, p.Hold)
				s = standing{ticket: p.Ticket, equal: 1}
			case p.Ticket > s.ticket:
				s.ticket, s.equal = p.Ticket, 1
			case p.Ticket == s.ticket:
				s.equal++
			}
			s.nodes++
			standings[p.Hold] = s
		}
	}
	var settled []string
	for _, hold := range order {
		if s := standings[hold]; s.nodes == len(queues) && s.equal >= quorum {
			settled = append(settled, hold)
		}
	}
	return settled
}

// Look asks nodes for their queues. One that cannot be reached is left out.
func Look(ctx context.Context, keys lua.Keys, nodes []redis.UniversalClient) [][]Place {
	answers := make([][]Place, len(nodes))
	var asking sync.WaitGroup
	for i, node := range nodes {
		asking.Go(func() {
			reply, err := lua.Inspect{Keys: keys}.Call().Run(ctx, node)
			if err != nil {
				return
			}
			if in, err := lua.ParseInspected(reply); err == nil {
				answers[i] = make([]Place, 0, len(in.Queue))
				for _, w := range in.Queue {
					answers[i] = append(answers[i], Place{Hold: w.Hold, Ticket: w.Ticket})
				}
			}
		})
	}
	asking.Wait()
	queues := answers[:0]
	for _, a := range answers {
		if a != nil {
			queues = append(queues, a)
		}
	}
	return queues
}

// Watch looks at the queues again and again, and notes who has a place, until ctx ends.
// It must have clients of its own, with timeouts that are short and respected.
func (r *Recorder) Watch(ctx context.Context, keys lua.Keys, nodes []redis.UniversalClient, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	quorum := len(nodes)/2 + 1
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		queues := Look(ctx, keys, nodes)
		if ctx.Err() != nil || len(queues) < quorum {
			continue // who did not answer in time may know more
		}
		r.Settle(Settled(queues, quorum)...)
	}
}

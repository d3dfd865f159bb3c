package kind

import "github.com/holdfast-go/holdfast/lua"

// A Queue is a Kind whose waiters stand in a queue on the nodes and are served in its
// order. Replies to Wait are read by Acquired, and Release also ends a wait.
type Queue interface {
	Kind
	// Wait takes a free lock if it is the hold's turn, and otherwise queues the hold. round counts
	// how often the hold has asked.
	Wait(r Request, ticket lua.Ticket, round int64) lua.Call
	// Yield gives back what a minority of nodes granted in this round or before, and continues to
	// wait with ticket. It does not touch grants of a later round, or holds that were extended
	// since. Where nothing was granted, it sends a final ticket.
	Yield(r Request, ticket lua.Ticket, round int64) lua.Call
	// Yielded reads a reply to Yield: the ticket the hold waits with.
	Yielded(reply any) (int64, error)
	// Settle ends a wait that another node's grant has ended.
	Settle(r Request) lua.Call
	// Settled reads a reply to Settle: whether the hold waited.
	Settled(reply any) (bool, error)
	// Beat shows that waiting holds are alive. name distinguishes heartbeats.
	Beat(r Request, name string, holds []string) lua.Call
	// Beaten reads a reply to Beat.
	Beaten(reply any) (lua.Beaten, error)
}

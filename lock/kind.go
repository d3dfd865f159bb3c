package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Kind is what is special about one kind of lock: the scripts that take and end a
// hold. Everything else - rounds, tokens, renewal, loss, waiting - is the engine's. A
// Kind must be safe for concurrent use.
type Kind interface {
	// Acquire takes a free lock.
	Acquire(r Request) lua.Call
	// Acquired reads a reply to Acquire.
	Acquired(reply any) (lua.Acquired, error)
	// Release ends the hold and wakes the next in line. It wakes nobody if quiet: then another of
	// this process asks right behind it. mark is for how long the hold id stays void.
	Release(r Request, quiet bool, mark time.Duration) lua.Call
	// Released reads a reply to Release: whether the hold was there.
	Released(reply any) (found bool, err error)
}

// A Queue is a Kind whose waiters stand in a queue on the nodes and are served in its
// order. Replies to Wait are read by Acquired, and Release also ends a wait.
type Queue interface {
	Kind
	// Wait takes a free lock if it is the hold's turn, and has it wait otherwise. round
	// counts how often the hold has asked.
	Wait(r Request, ticket lua.Ticket, round int64) lua.Call
	// Yield gives back what a minority of nodes granted in this round or before, and
	// waits on with ticket. What a later round was granted, and what was extended since,
	// it leaves alone. Where nothing was granted it states a final ticket.
	Yield(r Request, ticket lua.Ticket, round int64) lua.Call
	// Yielded reads a reply to Yield: the ticket the hold waits with.
	Yielded(reply any) (int64, error)
	// Settle ends a wait that another node's grant has ended.
	Settle(r Request) lua.Call
	// Settled reads a reply to Settle: whether the hold waited.
	Settled(reply any) (bool, error)
	// Beat shows that holds, who wait, are alive. name tells heartbeats apart.
	Beat(r Request, name string, holds []string) lua.Call
	// Due reads a reply to Beat: the holds that should ask, as they do not wait on that
	// node or it is their turn.
	Due(reply any) ([]string, error)
}

// A Request is what a Kind's scripts are told.
type Request struct {
	Keys      lua.Keys
	Hold      string
	TTL       time.Duration
	Retention time.Duration // life of an idle fencing counter
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Life      time.Duration // of a waiter without a sign of life
	Channel   string        // what the channel of a client begins with
	Alone     bool          // no node is a Cluster: who listens to a server is connected to it
	Undo      bool          // of a release: there never was a lease, and nobody was told the token
	Successor string        // of a Queue: the hold that asks right behind a quiet release, if one does
}

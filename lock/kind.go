package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Kind is what is special about one kind of lock: the scripts that take and end a
// hold. Everything else - rounds, tokens, renewal, loss, waiting - is the engine's. A
// Kind must be safe for concurrent use.
type Kind interface {
	// Acquire takes a free lock if r.Count is 1, and re-enters otherwise.
	Acquire(r Request) lua.Call
	// Acquired reads a reply to Acquire.
	Acquired(reply any) (lua.Acquired, error)
	// Release leaves r.Count of the hold; with none left it ends the hold and wakes
	// who comes next, unless quiet. mark voids the hold id for so long.
	Release(r Request, quiet bool, mark time.Duration) lua.Call
	// Released reads a reply to Release: whether the hold was there.
	Released(reply any) (bool, error)
}

// A Request is what a Kind's scripts are told.
type Request struct {
	Keys      lua.Keys
	Hold      string
	Count     int
	TTL       time.Duration
	Retention time.Duration // life of an idle fencing counter
}

package kind

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Kind is what is specific to one kind of lock: the scripts that take and end a hold. Everything
// else (rounds, tokens, renewal, loss, waiting) is the engine's. A Kind must be safe for concurrent
// use.
type Kind interface {
	// Family tells with which other kinds it can be used for one name.
	Family() Family
	// Acquire takes a free lock.
	Acquire(r Request) lua.Call
	// Acquired reads a reply to Acquire.
	Acquired(reply any) (lua.Acquired, error)
	// Release ends the hold and wakes the next waiter in line. If quiet, it wakes nobody, because
	// another goroutine of this process asks right after it. mark is how long the hold id stays
	// void.
	Release(r Request, quiet bool, mark time.Duration) lua.Call
	// Released reads a reply to Release: whether the hold was there.
	Released(reply any) (found bool, err error)
}

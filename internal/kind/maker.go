package kind

import (
	"context"

	"github.com/holdfast-go/holdfast/lua"
)

// A Maker makes the lock called name, of kind k. client is a *lock.Client, opts a []lock.Option,
// and the result has the methods of engine.Engine: types that this package cannot name, as
// package lock imports it.
type Maker func(client any, k Kind, name string, opts any) any

var maker Maker

// Provide is called by package lock, before main begins.
func Provide(m Maker) { maker = m }

// Leases is what package lock provides about the leases of Numbered locks.
type Leases struct {
	// Slots returns the slots of a lease, which is a *lock.Lease.
	Slots func(lease any) lua.Slots
	// Owner returns ctx with the owner that of carries, if it carries one.
	Owner func(ctx, of context.Context) context.Context
}

// OfLeases is set by package lock, before main begins.
var OfLeases Leases

// Awaited reports whether a Lock under ctx would wait for others of this process, if lock is what package lock
// made. It is set by package lock, before main begins. Only package engine should call it.
var Awaited func(ctx context.Context, lock any) bool

// Reads reports whether lock leaves room for others that read. It is set by package lock, before main begins. Only
// package engine should call it.
var Reads func(lock any) bool

// Apart is a lock.Option, set by package lock before main begins. Only package engine should use it.
var Apart any

// Make calls the Maker that was provided. Only package engine should: it knows the types.
func Make(client any, k Kind, name string, opts any) any { return maker(client, k, name, opts) }

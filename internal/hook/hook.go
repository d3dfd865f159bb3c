package hook

import "context"

// Calls are told of each acquisition of a client, on the caller's goroutine and without
// any mutex of the client held. They must be safe for concurrent use.
type Calls interface {
	// Begin comes first. If it returns an error, that ends the call before any node is asked.
	Begin(name string) error
	// Wait says that a Lock, which call stands for, found the lock taken and waits for it.
	// It may come several times for one call.
	Wait(name string, call any)
	// End says that call is over, with a *lock.Lease or with nil.
	End(call, lease any)
}

// Provided is set by package lock, before main begins. The leases are of type *lock.Lease.
var Provided struct {
	// Option makes a lock.ClientOption.
	Option func(Calls) any
	// Key is the key of the lease's lock; see lua.Keys.
	Key func(lease any) string
	// Prefix is that of a *lock.Client's keys.
	Prefix func(client any) string
	// Force ends the lease's hold as ForceUnlockHold does.
	Force func(ctx context.Context, lease any) error
	// Renew renews the lease's hold once, now.
	Renew func(ctx context.Context, lease any) error
}

package hook

import "context"

// Provided is set by package lock, before main begins. The leases are of type *lock.Lease.
var Provided struct {
	// Fails makes a lock.ClientOption. Each acquisition that is not a re-entry calls the function,
	// on the caller's goroutine and without any mutex held, before any node is asked. It fails with
	// the function's error, unless that is nil.
	Fails func(func(name string) error) any
	// Key is the key of the lease's lock; see lua.Keys.
	Key func(lease any) string
	// Prefix is that of a *lock.Client's keys.
	Prefix func(client any) string
	// Force ends the lease's hold as ForceUnlockHold does.
	Force func(ctx context.Context, lease any) error
	// Renew renews the lease's hold once, now.
	Renew func(ctx context.Context, lease any) error
}

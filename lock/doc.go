// Package lock is the engine that every kind of lock shares: a [Client] over N
// independent Redis nodes, the [Lease] that a Lock returns, and the life of a lease
// from the first attempt to its end.
//
// Locks themselves are made by the packages beside it, such as reentrant:
//
//	locks, err := lock.NewClient([]redis.UniversalClient{rdb}) // or five of them
//	defer locks.Close()
//
//	orders := reentrant.New(locks, "orders:42")
//	lease, err := orders.Lock(ctx)
//	if err != nil {
//		return err
//	}
//	defer lease.Unlock(ctx)
//	ctx = lease.Context(ctx) // carries ownership, and ends when the lease is lost
//
// # Words
//
// The owner is the identity that may re-enter a lock; it travels in a context. A hold lasts
// from an owner's first lease on a name to its last unlock, and has an id that is never used
// again. A lease is one acquisition within a hold. A tenure is what a process has at the nodes
// for one name; the holds of its goroutines may follow one another within it, without a
// command. The validity of a lease is the moment until which its holder may rely on it: the
// attempt's start + TTL - clock drift, on the monotonic clock. The fencing token is a number
// that grows with every hold of a name.
//
// # Promises
//
//   - I1 exclusion: no two owners have valid leases on one name at once, provided
//     that clocks run at rates within the drift factor and a quorum of nodes keeps
//     what it acknowledged.
//   - I2 loss is seen: a lease that cannot be proven valid is over no later than its
//     validity, even with every node dead or silent.
//   - I3 tokens: a hold's token is greater than every token returned before on that
//     name, over any quorum; re-entry returns the same one.
//   - I4 retry-safe: a command that runs twice, or late, has no further effect.
//   - I5 nothing left behind: an attempt that did not succeed leaves no key on a node
//     that can be reached, and none for longer than a TTL on any other.
//   - I6 liveness: with a quorum up, a free lock is acquired; a crashed holder blocks
//     it for no longer than a TTL; a lost wake-up costs no more than a poll.
//   - I8 bounded: goroutines and connections grow with nodes, not with leases or
//     waiting locks, a blocked caller's own goroutine aside.
//
// # What is not promised
//
// A holder that was paused past its validity and goes on working before it looks at
// its lease must be stopped by the token at the resource. A node clock that jumps by
// more than the drift bound can shorten a lock on that node. A machine that sleeps
// stops the monotonic clock of its processes, but not the servers' clocks.
//
// # Algorithms
//
// Quorum, validity and delayed restarts are those of the Redlock algorithm, from
// Redis' document on distributed locks; the hash of hold counts follows Redisson's
// RLock. Where this package differs from both is written down in docs/divergence.md.
//
// # Inside
//
// The files form rooms, each with one question to answer, and refer only to the rooms below
// their own: docs/architecture.md has the list, and follows one Lock through the code. A
// tenure's loss is decided in loss.go (deadlines) and restore.go (what the nodes say), who
// is next in this process in pass.go, serve.go and relay.go (a mutex, a read-write lock, a
// semaphore), and a token in attempt.go (the first one of a tenure) and reserve.go (the others).
package lock

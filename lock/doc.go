// Package lock is the engine that all kinds of lock share. It has the [Client], which connects to N
// independent Redis nodes, and the [Lease], which a Lock returns, and it manages each lease from
// the first attempt to its end.
//
// The locks themselves are made by other packages, such as reentrant:
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
// The owner is the identity that may re-enter a lock; a context carries it. A hold lasts from an
// owner's first lease on a name to its last unlock, and has an id that is never used again. A lease
// is one acquisition within a hold. A tenure is what a process holds at the nodes for one name; the
// holds of its goroutines may follow one another within a tenure, without a command. The validity
// of a lease is the moment until which its holder may rely on it: the start of the attempt + TTL -
// clock drift, on the monotonic clock. The fencing token is a number that grows with every hold of
// a name.
//
// # Promises
//
//   - I1 exclusion: no two owners have valid leases on one name at once, provided
//     that clocks run at rates within the drift factor and a quorum of nodes keeps
//     what it acknowledged.
//   - I2 loss is seen: a lease that cannot be proven valid is over no later than its
//     validity, even with every node dead or silent.
//   - I3 tokens: a hold's token is greater than every token returned before on that
//     name, over any quorum; re-entry returns the same one. A hold that only reads has the last
//     writer's, and a permit's is greater than those of earlier holders of its slots.
//   - I4 retry-safe: a command whose answer was lost may run twice, or late, without further effect.
//   - I5 nothing left behind: an attempt that did not succeed leaves no key but the fencing
//     counter on a node that can be reached; on any other, the lock's key is gone after a
//     TTL, and the keys beside it after one and a half. ([WithMinHold], [WithRest] and a longer
//     [Lease.Extend] have the key live for longer; so for I6.)
//   - I6 liveness: with a quorum up, a free lock is acquired; a crashed holder blocks
//     it for no longer than a TTL; a lost wake-up costs no more than a poll.
//   - I8 bounded: the number of goroutines and connections grows with the nodes, not with leases or
//     waiting locks, apart from a blocked caller's own goroutine, and one for each lease of several
//     locks whose Done is used.
//
// # What is not promised
//
// A holder may be paused past its validity and then continue to work before it looks at its lease.
// Only the resource can stop it, by the token. A node's clock that jumps by more than the drift
// bound can shorten a lock on that node. A machine that sleeps stops the monotonic clock of its
// processes, but not the servers' clocks.
//
// # Algorithms
//
// Quorum, validity and delayed restarts are those of the Redlock algorithm, from Redis' document on
// distributed locks. The hash of hold counts follows Redisson's RLock. The file docs/divergence.md
// explains where this package differs from both.
//
// # Inside
//
// The files form rooms. Each room answers one question, and refers only to the rooms below it. The
// file docs/architecture.md lists the rooms and follows one Lock through the code. The files
// loss.go (deadlines) and verdict.go (what the nodes say) decide when a tenure is lost. The files
// pass.go, run.go, serve.go and relay.go (for a mutex, a fair lock, a read-write lock, a semaphore)
// decide who is next in this process. A tenure's first token comes from attempt.go, all others from reserve.go.
package lock

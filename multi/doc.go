// Package multi takes several locks at once, all or nothing: both accounts of a transfer, or
// every shelf that an order is packed from.
//
//	both := multi.New(reentrant.New(locks, "account:ann"), reentrant.New(locks, "account:bob"))
//	err := both.Do(ctx, func(ctx context.Context) error {
//		// Nobody else has either account. ctx ends if either lock is lost.
//		return transfer(ctx, 100)
//	})
//
// The order of the arguments does not matter: locks are taken in the order of their names, so two
// programs that take the same names in opposite orders never wait for each other in a circle. All
// free locks are requested at once, and together cost about as much as one. The locks may be of
// several kinds and of several clients. Semaphore.Locker adds permits of a semaphore.
//
// # What is promised
//
//   - All or nothing: a Lock or TryLock that fails, for whatever reason and at whatever moment,
//     holds nothing when it returns, and what a node grants after that is given back when its answer
//     arrives. Locks that the same owner held before are not affected.
//   - No circle: while a call waits for one of its locks, it holds only the locks whose names come
//     before it. So calls of this package never wait for each other in a circle, in one process or
//     in several.
//   - One owner: all locks belong to the owner that ctx carries, or to a new one. Under
//     the lease's context each of them can be locked again, alone or with others.
//   - One context: [Lease.Context] ends with the first lock that is lost.
//   - In line: a Lock does not go past others of its process that wait for one of its locks, whether
//     they take that one alone or several.
//
// # What is not promised
//
// The order covers the locks of one call. If you call Lock under the context of a lease, for a name
// that comes before those held, it can wait in a circle, as with any lock. Take all names that the
// work needs with one call.
//
// While a call waits for one of its locks, it holds the ones before it, and others wait for them.
// If the names are in high demand, take few of them at once, or use TryLock.
//
// Several TryLocks at the same moment may all fail, because each may get some of the locks.
//
// Two locks of one name need not be the same lock: their clients may have different nodes, or
// different prefixes. A program cannot tell, so multi assumes no order between them, and holds none
// of them while it waits for another. There is still no circle, but two calls can refuse each other
// repeatedly. Each pauses for a random, growing time, so one of them soon gets all locks. Many
// callers that take only one of these locks can starve a call that needs several. Give locks on
// different nodes different names.
//
// Two locks of one name on two clients of the same nodes are one lock, but the clients do not know
// each other's owners. So a Lock of both waits for itself until ctx ends, and a TryLock of both
// always fails. Use one client for each set of nodes.
//
// # Where the algorithm comes from
//
// If everybody acquires resources in the same order, there is no deadlock: J. W. Havender,
// "Avoiding deadlock in multitasking systems", IBM Systems Journal 7(2), 1968, and E. W. Dijkstra's
// solution for the dining philosophers (EWD310, 1971).
package multi

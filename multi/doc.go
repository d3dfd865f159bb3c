// Package multi takes several locks at once, all or nothing: both accounts of a transfer, or
// every shelf that an order is packed from.
//
//	both := multi.New(reentrant.New(locks, "account:ann"), reentrant.New(locks, "account:bob"))
//	err := both.Do(ctx, func(ctx context.Context) error {
//		// Nobody else has either account. ctx ends if either lock is lost.
//		return transfer(ctx, 100)
//	})
//
// The order in which the locks are given does not matter: they are taken in the order of
// their names, so that two programs that take the same names in opposite orders never wait
// for each other in a circle. Free locks are asked for all at once, and cost about what
// one of them costs. The locks may be of several kinds and of several clients; permits of a
// semaphore are taken along by its Locker.
//
// # What is promised
//
//   - All or nothing: a Lock or TryLock that fails, for whatever reason and at whatever
//     moment, holds nothing when it returns. What the same owner held before, it still has.
//   - No circle: while a call waits for one of its locks, it holds only those whose names come
//     before it. So calls of this package never wait for each other in a circle, in one
//     process or in several.
//   - One owner: all locks belong to the owner that ctx carries, or to a new one. Under
//     the lease's context each of them can be locked again, alone or with others.
//   - One context: [Lease.Context] ends with the first lock that is lost.
//
// # What is not promised
//
// The order covers the locks of one call. Under the context of a lease, a second Lock for a name
// that comes before those held can wait in a circle, as with any lock. Take all names that the
// work needs with one call.
//
// While a call waits for one of its locks, it holds those that come before it, and others wait for
// them. If the names are in high demand, take few of them at once, or use TryLock.
//
// Of several TryLocks at the same moment, all may fail, as each may get a part of the locks.
//
// Two locks of one name need not be the same lock: their clients may have different nodes, or
// different prefixes. A program cannot tell, so multi knows no order between them, and holds none of
// them while it waits for another. There is still no circle, but two calls can refuse each
// other again and again. Each pauses for a random time that grows, so one of them
// soon gets all. A crowd of callers that take only one of these locks can starve a
// call that needs several. Give locks on different nodes different names.
//
// # Where the algorithm comes from
//
// Resources that everybody acquires in one order cannot deadlock: J. W. Havender, "Avoiding
// deadlock in multitasking systems", IBM Systems Journal 7(2), 1968, and E. W. Dijkstra's
// solution for the dining philosophers (EWD310, 1971).
package multi

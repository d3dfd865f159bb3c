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
// one of them costs. The locks may be of several kinds and of several clients.
//
// # What is promised
//
//   - All or nothing: a Lock or TryLock that fails, for whatever reason and at whatever
//     moment, holds none of the locks when it returns, except those that the same owner held
//     before.
//   - No circle: while a call waits for one of its locks, it holds only locks with lesser
//     names. So calls of this package never wait for each other in a circle, across processes.
//   - One owner: all locks belong to the owner that ctx carries, or to a new one. Under
//     the lease's context each of them can be locked again, alone or with others.
//   - One context: [Lease.Context] ends with the first lock that is lost.
//
// # What is not promised
//
// The order covers the locks of one call. A Lock under the context of a lease, for a name in
// front of those that are held, can wait in a circle, as with any lock: take all names that
// the work needs with one call.
//
// A lock is held, and renewed, while its call waits for one with a greater name. Others
// wait for it meanwhile. Where locks are often taken, take few of them at once, or use TryLock.
//
// Of several TryLocks at the same moment, all may fail, as each may get a part of the locks.
//
// Whether two locks of one name are the same lock cannot be told from the outside: they may
// be of clients with different nodes or prefixes. No order between them is known then, so none
// of them is held while a call waits for another one of that name. That keeps the promise that there
// is no circle, but two such calls may take turns at refusing each other. Each of them pauses for a
// random time that grows, so that one of them soon gets all. A crowd that takes only one of
// the locks can starve them. Avoid it: give locks on different nodes different names.
//
// # Where the algorithm comes from
//
// Resources that everybody acquires in one order cannot deadlock: J. W. Havender, "Avoiding
// deadlock in multitasking systems", IBM Systems Journal 7(2), 1968, and E. W. Dijkstra's
// solution for the dining philosophers (EWD310, 1971).
package multi

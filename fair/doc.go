// Package fair is the mutex that serves its waiters in the order in which they came,
// across processes and machines. Otherwise it is the one of package reentrant: for its
// owner it is reentrant, and a watchdog renews it while the work lasts.
//
// # Promise
//
// I7 fairness: a waiter whose enqueue finished before another's began is served first,
// absent failures. TryLock never jumps the queue. A waiter that crashes holds up those
// behind it for no longer than its heartbeat ([lock.WithWaiterHeartbeat]), and for 0.3
// seconds where the server can tell that its process does not listen any more.
//
// # How
//
// Each node keeps a queue, a zset of hold ids with a ticket as the score. A waiter's
// ticket is the greatest that a quorum of nodes proposes, and each node proposes more
// than any ticket that waits there; no clock is in it. A node grants a free lock to the
// head of its queue alone, and a release wakes the head alone. Waiters send
// heartbeats, one for all of a process and name; scripts drop dead waiters. A node that
// lost its queue gets it back from the waiters, with the tickets they had.
//
// # What it costs
//
// One round trip when nobody waits, like reentrant. A hand-over takes two commands per node,
// however many wait. Order costs throughput: the lock goes to the next in line, who may be
// in another process, and not to the nearest. Where order does not matter, use package
// reentrant.
//
// Use one kind of lock per name: a fair and a reentrant mutex of the same name exclude each
// other, but the reentrant one does not queue.
package fair

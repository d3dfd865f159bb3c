// Package fair is a mutex that serves its waiters in the order in which they came, across processes
// and machines. In all else it is like the mutex of package reentrant: its owner may re-enter it,
// and a watchdog renews it while the work lasts.
//
// # Promise
//
// I7 fairness: a waiter whose enqueue finished before another's began is served first, absent
// failures. TryLock never jumps the queue. A waiter that crashes delays the waiters behind it for
// at most its heartbeat ([lock.WithWaiterHeartbeat]), or for 0.3 seconds if the server can tell
// that its process no longer listens. A waiter whose process hears of its turns later than the node timeout, three
// times in a row, gives up its place.
//
// # How
//
// Each node keeps a queue: a zset of hold ids with a ticket as the score. A waiter's ticket is the
// greatest one that a quorum of nodes proposes, and each node proposes more than any ticket in its
// queue. Tickets do not depend on a clock. A node grants a free lock only to the head of its queue,
// and a release wakes only the head. If the next waiters are of the same process, they follow without
// a command: the nodes that grant the lock say who stands behind. Waiters send heartbeats, one for all waiters of a process and
// name, and scripts drop dead waiters. A node that lost its queue gets it back from the waiters,
// with their old tickets.
//
// # What it costs
//
// One round trip when nobody waits, like reentrant. Each waiter has to queue and to leave the queue.
// Beyond that, a hand-over to another process takes two commands per node, however many wait. Order costs throughput: the lock goes to the next waiter in line, which may be
// in another process, and not to the nearest. If order does not matter, use package reentrant.
//
// Use one kind of lock per name: a fair and a reentrant mutex of the same name exclude each
// other, but the reentrant one does not queue, and nothing wakes it when the fair one ends: it polls, every three
// seconds at the latest.
package fair

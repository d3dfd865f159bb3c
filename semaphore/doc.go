// Package semaphore gives out a limited number of permits to processes and machines, over one Redis
// node or a quorum of several. It is golang.org/x/sync/semaphore with leases, and with a number on
// each permit.
//
//	calls := semaphore.New(locks, "billing-api", 5) // five at once, in all processes together
//
//	permit, err := calls.Acquire(ctx, 1)
//	if err != nil { return err }
//	defer permit.Release(ctx)
//	ctx = permit.Context(ctx) // cancelled when the permit is lost
//
// # Order
//
// First come, first served, across all processes. Small requests do not overtake a big one.
// Requests at the head of the queue enter together as long as there is room for all of them, and if
// the head gives up, the requests behind it enter at once. If there are many, the first sixteen do,
// and each that is in lets in the next one. TryAcquire overtakes nobody who has a place in the
// queue. All n permits of a request are taken at once, or none.
//
// As long as no other process waits, a process passes its permits on. A permit that is given back
// goes to the process's first waiter, without a command, if that one wants as many permits with the
// same options; otherwise nobody gets it this way. Only while the process does not have all permits,
// the first waiters that are just asking the nodes for one do not count: they may be granted what is free there,
// and those behind them do not wait for that. Meanwhile the process asks the nodes at least
// every 50 ms whether others wait. So a waiter in another process is overtaken for at most that
// long and a round trip, and then its place in the queue counts. Conversely, its own waiters may have no
// place for up to 50 ms while it has all permits, and a TryAcquire, here or elsewhere, may overtake them.
//
// # Slots
//
// A permit is one of the numbers from 0 to the number of permits less one ([Permit.Slots]). Nobody
// else has the same number at the same time. Low numbers are preferred. So a permit can also stand
// for a worker, a shard, a port or a seat.
//
// # Leases
//
// Permits are renewed while their process lives. They end as a lock does: by Release, by a loss,
// which ends their context, or by the options [lock.WithoutWatchdog] and [lock.WithMaxHold]. The
// permits of a process that died are free after their TTL, by the nodes' clocks: no client's clock
// counts, and renewals by others do not prolong them. There is no stored count that could drift: a
// permit is free if nobody holds it. So no permit can leak, or be given back twice.
//
// Each permit has a fencing token of its own, from one counter for the name.
//
// # Changing the number of permits
//
// The program states the number of permits. While programs with two numbers run, for example during
// an update, at most the larger number of permits is out, and programs with the smaller number give
// out no slots above it. Once the last program with the larger number and its permits are gone, the
// smaller number is the limit.
//
// The queue is the same for both numbers. A waiter with the smaller number that is first, and finds all
// slots below that number taken, keeps out all who are behind it, even if higher slots are free. So if the number
// grows, the new permits may stay idle until no program with the smaller one waits any more.
//
// # Many nodes
//
// Counting permits by majority is unsound: with three nodes and two permits, the majorities {A,B},
// {B,C} and {A,C} are three holders, though no node has counted more than two. So each slot is a
// lock of its own by majority. Each node gives a request its lowest free slots and says which. If a
// quorum gave the same ones, the permits are held. Two quorums share a node, and that node gives a
// slot to one hold at a time, so no two holds have it.
//
// Nodes nearly always give the same slots, because they see the same queue; then one round trip is
// enough. A node that gave other slots than the quorum takes them back and gives the right ones. If
// no quorum agrees, the client asks by name for the slots that most nodes can give. If that fails,
// all slots are given back and the request is tried again; it keeps its place in the queue.
//
// Late or repeated commands cannot give a slot two holders, because every command names the hold. A
// release gives back what this hold has, which is nothing once another hold has the slot. An
// extension succeeds only where the hold still has exactly the slots it was granted. A command that
// would create a hold again is refused after its release. A node that lost a part of what it knew
// of the permits gives out none until all holds that it still has have ended. As for all locks, the condition is
// that a quorum keeps what it acknowledged, or that [lock.WithRestartGuard] is used.
//
// # When to use it
//
// Use a semaphore to limit how many do something at once, or to number them. With one permit it is
// a mutex that serves in order, and package fair is cheaper for that. To limit how often something
// is done, not how many do it at once, use [lock.WithMinHold], which keeps each slot taken for a
// minimum time.
package semaphore

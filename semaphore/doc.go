// Package semaphore gives a number of permits to processes and machines, over one Redis node or a quorum of
// several: golang.org/x/sync/semaphore as a lease, and with numbers on the permits.
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
// First come, first served, over all processes. Who asks for many is not passed by those who come later and ask for
// few. Those at the head of the queue enter together as long as there is room for all of them, and a cancelled head lets
// those behind it in at once. TryAcquire passes nobody. All n permits of a request are taken at once, or none.
//
// As long as no other process waits, a process passes its permits on: one that is given back goes to the first who waits
// there, without a command, if he wants as many with the same options, and otherwise to nobody. Whether others
// wait the nodes are asked at least every 50 ms meanwhile. So whoever waits in another process is passed for no
// longer than that, and then his place in the queue counts.
//
// # Slots
//
// A permit is one of the numbers from 0 up to one less than there are ([Permit.Slots]), which nobody else has
// meanwhile. Low ones are preferred. So a permit is a worker's number, a shard, a port or a seat, too.
//
// # Leases
//
// Permits are renewed while their process lives, and end as a lock does: by Release, by a loss, which their
// context tells, or with the options [lock.WithoutWatchdog] and [lock.WithMaxHold]. Those of a process that died
// are free after their TTL, by the clocks of the nodes: no client's clock counts, and no renewal of others keeps them. No
// count of permits is stored that could drift: what is free is what nobody has. So no permit can leak, or be
// given back twice.
//
// Each permit has a fencing token of its own, from one counter for the name.
//
// # Another number of permits
//
// The number is the program's. While programs with two numbers are at work, as when a fleet is being
// updated, no more permits are out than the larger one; programs with the smaller one give out no slots above it, and
// when the last program with the larger has gone, and its permits with it, no more are out than the smaller.
//
// # Many nodes
//
// To count permits by majority is unsound: with three nodes and two permits, {A,B}, {B,C} and {A,C} are three
// holders, and no node has counted more than two. So each slot is a lock of its own by majority. Each node gives a
// request its lowest free slots, and tells which; with the same ones from a quorum the permits are held. Two
// quorums share a node, and that node gives a slot to one hold at a time, so no two holds have it.
//
// Nodes nearly always give the same, as they see the same queue, and then it takes one round trip. A node that
// gave others than the quorum takes them back, and gives the right ones. Where no quorum agrees, those that most nodes can
// give are asked for by name, and if that fails, all is given back and tried again; the place in the queue is kept.
//
// That no slot has two holders stands whatever is late or comes twice, because every command names the hold: a release
// gives back what this hold has, which is nothing once another has the slot; an extension goes through only where the
// hold still has the very slots it was granted, and a command that would create a hold anew is refused after its
// release. A node that lost some of what it knew of the permits gives out none until the others have ended. As for all
// locks, it takes that a quorum keeps what it acknowledged, or [lock.WithRestartGuard].
//
// # When to take it
//
// To limit how many do something at once, or to number them. With one permit it is a mutex in order, and package
// fair is that for less. To limit how often something is done, not how many do it at once, [lock.WithMinHold] keeps
// each slot taken for so long.
package semaphore

// Package fifo checks that a lock serves its waiters in the order of their arrival.
//
// A [Recorder] logs three moments of each waiter: when its enqueue began, when it had
// ended, and when the lock was granted. [Inversions] then finds every waiter that was
// overtaken: by one whose enqueue began only after its own had ended. Two whose enqueues
// overlap may be served in either order, so they are no inversion, whatever came out.
//
// Moments are numbers of one counter and no times: what is to be compared is which of
// two events was first, and a clock would add nothing but its resolution. A moment is
// noted so that the log can hide an inversion but never invent one: the begin before
// Lock is called, the end after the nodes were seen to have the place, the grant while
// the lock is held. Of waiters in other processes the test notes them in the same way,
// around what it tells these processes and what it hears from them.
//
// When an enqueue has ended no waiter tells, since Lock returns with the grant. The nodes
// do: see [Settled].
package fifo

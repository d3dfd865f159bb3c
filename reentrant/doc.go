// Package reentrant is the mutex that most programs want: exclusive across processes
// and machines, reentrant for its owner, renewed by a watchdog while the work lasts.
//
//	orders := reentrant.New(locks, "orders:42")
//	err := orders.Do(ctx, func(ctx context.Context) error {
//		// Nobody else is here. ctx ends if the lock is lost.
//		return ship(ctx, 42)
//	})
//
// Ownership travels in the context: a Lock whose context comes from the lease that has
// the mutex re-enters it, at once. Two goroutines without such a context exclude each
// other, even through the same *Mutex.
//
// It promises no order between processes: whoever finds it free takes it. Waiters of one
// process are served in their order, and pass the mutex on to each other without asking the
// nodes, until somebody elsewhere wants it: then it is given up after 32 holds or 50 ms. Where order between processes matters, use package
// fair.
//
// On a node the mutex is a Redis hash of one field, hold id -> hold count, as in
// Redisson's RLock. Renewal, loss, tokens and waiting are the engine's; see package
// lock.
package reentrant

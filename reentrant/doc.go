// Package reentrant is the mutex that most programs want: exclusive across processes
// and machines, reentrant for its owner, renewed by a watchdog while the work lasts.
//
//	orders := reentrant.New(locks, "orders:42")
//	err := orders.Do(ctx, func(ctx context.Context) error {
//		// Nobody else is here. ctx ends if the lock is lost.
//		return ship(ctx, 42)
//	})
//
// The context carries ownership: a Lock whose context comes from the lease that holds the mutex
// re-enters it at once. Two goroutines without such a context exclude each other, even through the
// same *Mutex.
//
// The mutex promises no order between processes: the first to find it free takes it. Waiters of one
// process are served in order, and pass the mutex on to each other without asking the nodes. If
// another process wants it, this process gives it up after 32 holds or 50 ms (and two round trips, if
// the nodes are far). If order between processes matters, use package fair.
//
// On a node, the mutex is a Redis hash of one field, hold id -> hold count, as in Redisson's RLock.
// Package lock describes renewal, loss, tokens and waiting.
package reentrant

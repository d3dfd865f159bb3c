// Package election lets one of many candidates lead at a time, across processes and machines.
//
//	e := election.New(locks, "scheduler", "web-3")
//	err := e.Run(ctx, func(ctx context.Context, term election.Term) error {
//		// Nobody else leads. ctx ends if the leadership is lost, before anybody else can have it.
//		return schedule(ctx, term.Token)
//	})
//
// A leadership is a hold of a fair lock (package fair). Candidates lead in the order in which they
// began to run, and a leader's lease is renewed while it works. If a leader crashes, its successor
// takes over within a TTL. The number of a term is the lock's fencing token. It grows with each
// term, so a resource that remembers the greatest one it has seen can refuse a leader that was
// paused and does not yet know that it no longer leads.
//
// A leader should know:
//
//   - As long as the client is open, the leadership is given back only after the function that leads
//     has returned, for whatever reason it returns. A function that continues after its context has
//     ended keeps the leadership as long as it can be renewed: nobody else leads while it cleans up,
//     and nobody else leads while it hangs. [lock.WithMaxHold] limits that.
//   - Closing the client ends a leadership at once, like every lease, even while the function still
//     cleans up. So end the context given to [Election.Run], and wait for Run to return, before
//     [lock.Client.Close]. [lock.Client.Shutdown] waits for the leader for as long as its own context
//     allows, but does not ask it to stop: end Run's context before, or at the same time.
//   - If the leadership is lost (the nodes could not be reached for too long, or somebody ended it
//     by force), another candidate leads as soon as the keys have expired, even if the function
//     still runs. Its context has ended by then.
//
// An election called "x" uses the lock called "x": do not lock that name for anything else.
package election

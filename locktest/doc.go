// Package locktest helps to unit-test programs that use locks. A [Fake] provides locks of every
// kind without a Redis server and without sleeping, and methods that inject faults.
//
//	func TestShip(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			f := locktest.New(t)
//			orders := reentrant.New(f.Client(), "orders:42") // handed to the program
//			theirs := f.Hold("orders:42")                    // somebody else has it
//			go ship(orders)
//			f.Advance(time.Minute) // in no time
//			theirs.Release()
//			...
//		})
//	}
//
// # What it is
//
// The locks are the real ones: package lock's clients, leases, errors, tokens and contexts. The
// scripts run on Redis nodes embedded in the test, over connections in memory. The tests that check
// the locks' rules on real servers also run on it, so it is no more lenient than they are.
//
// # Time
//
// It is at its best in a bubble of [testing/synctest]: every timer of the program, of the locks and
// of the nodes follows the bubble's clock, and times are exact. Call [New] inside the bubble, with
// the bubble's t. To hold a lock for an hour takes about 0.1 s of CPU time on one node, and some
// seconds on three, which are asked once a second.
//
// Outside a bubble, everything works in real time, without a server or a socket. The default node
// timeout is then two seconds, as the machine may be busy. Real time cannot be moved:
// [Fake.Advance] ends the test there, and so does a [Fake.Lose] that would have to wait. Moving
// only the nodes' clocks would be misleading, because leases do not look at them.
//
// # At the end of the test
//
// The test fails if a lease is neither unlocked nor lost, and the message says where it was taken.
// It also fails if no acquisition has met an error of [Fake.FailNext]. Then everything is closed.
// In a bubble, the program's own goroutines must end, as in any bubble.
//
// # What to depend on
//
// Code under test should accept a [lock.Locker], which every mutex is, from its caller:
// reentrant.New(f.Client(), name) in a test, and the same with its own client in production. Code
// that expects its callers to hold the lock can check that with [lock.Holds], and tests can check
// it with [AssertHeld]. If a program accepts Redis clients and creates its own lock client, give it
// the clients of [Fake.Redis].
//
// # What it is not
//
// The nodes are miniredis, not Redis: they cannot show what a server does when it is full, fails
// over, or restarts with old data.
package locktest

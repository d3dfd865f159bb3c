// Package locktest is for the unit tests of programs that use locks: a [Fake] has locks of
// every kind without a Redis server and without sleeping, and faults as verbs.
//
//	func TestShip(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			f := locktest.New(t)
//			orders := reentrant.New(f.Client(), "orders:42") // what the program is given
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
// The locks are the real ones: the clients, leases, errors, tokens and contexts are those of
// package lock, and the scripts run on Redis nodes embedded in the test, which are reached over
// connections in memory. The rules that locks keep on real servers are checked on it, too, so
// that it is no kinder than they are.
//
// # Time
//
// In a bubble of [testing/synctest], which is where it is at its best, every timer of the
// program, of the locks and of the nodes goes by the bubble's clock, and times are exact. Call
// [New] inside of the bubble, with the bubble's t. An hour for which a lock is held takes about
// 0.1 s of the processor on one node, and some seconds on three, which are asked once a second.
//
// Outside of a bubble everything works in real time, without a server or a socket. The node
// timeout is two seconds there, unless it is set, as the machine may be busy. Nobody can
// move that time: [Fake.Advance] ends the test there, and so does a [Fake.Lose] that would have
// to wait. To move the clocks of the nodes alone would be a lie, as leases do not look at them.
//
// # At the end of the test
//
// The test fails if a lease is neither unlocked nor lost, and says where it was taken; also if
// no acquisition has met an error of [Fake.FailNext]. Then everything is closed. In a bubble the
// program's own goroutines must end, as in any other.
//
// # What to depend on
//
// Code under test should ask for a [lock.Locker], which every mutex is, and be given one by its
// caller: reentrant.New(f.Client(), name) in a test, and the same with its own client in
// production. Code that its callers call with the lock held can check that with [lock.Holds],
// and tests with [AssertHeld]. A program that is given Redis clients and makes its own lock
// client can have those of [Fake.Redis].
//
// # What it is not
//
// The nodes are miniredis and not Redis: what a server does when it is full, fails over, or
// restarts with old data, it cannot show.
package locktest

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
// connections in memory. The conformance suite of the library runs on it, too. So it cannot be
// kinder than the real thing, and what it has not been told is what happens in production.
//
// # Time
//
// In a bubble of [testing/synctest], which is where it is at its best, every timer of the
// program, of the locks and of the nodes goes by the bubble's clock: a watchdog's day takes
// moments, and times are exact. Call [New] inside of the bubble, with the bubble's t.
//
// Outside of a bubble everything works in real time, without a server or a socket. Nobody can
// move that time: [Fake.Advance] ends the test there, and so does a [Fake.Lose] that would have
// to wait. To move the clocks of the nodes alone would be a lie, as leases do not look at them.
//
// # At the end of the test
//
// The test fails if a lease that was granted is neither unlocked nor lost, and says where it
// was taken; also if an error of [Fake.FailNext] was not used. Then everything is closed. Nothing need be
// closed by hand, but in a bubble the program's own goroutines must end, as in any other.
//
// # What to depend on
//
// Code under test should ask for a [lock.Locker], which every mutex is, and be given one by its
// caller: reentrant.New(f.Client(), name) in a test, and the same with its own client in
// production. Code that is called with the lock held should not take one, but check that its caller has it
// with [lock.Holds]; test that with [AssertHeld]. A program that is given Redis clients and makes its own
// lock client can have those of [Fake.Redis].
//
// # What it is not
//
// The nodes are miniredis and not Redis: what a server does when it is full, fails over, or
// restarts with old data, it cannot show.
package locktest

// Package conformance is what a [lock.Locker] promises, in executable form: each rule
// of the API is a test, and every kind of lock passes all of them over every kind of
// deployment. Who adds a kind of lock runs it from that package:
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, conformance.Kind{New: conformance.From(reentrant.New)})
//	}
//
// A subtest is called deployment/Rule, so that -run 'Conformance/three/Unlock' shows
// what unlocking must do over three servers. The rules stand in files by subject. Each
// has a lock name of its own, and at its end the nodes must be clean: with every client
// closed, nothing is left of the name but what expires by itself and stops nobody (I5).
//
// Rules of rules: they know a lock by its API, and a node by the keys of docs/keys.md.
// They need no fault of a network or server; what happens then is for tests with proxies
// and for chaos. Bounds are generous, for a busy machine, and nothing sleeps.
package conformance

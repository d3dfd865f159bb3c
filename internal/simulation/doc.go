// Package simulation tries all kinds of locks in worlds that are drawn by lot: one to five nodes, near or far, one to five
// programs with up to a hundred goroutines each, and whatever goes wrong with nodes, networks and programs. They live in
// virtual time (see package virtual), so that a minute of a world takes a second, and no world depends on how busy the
// machine is. A judge watches what the goroutines were granted, and says which promise was broken.
//
//	make simulate WORLDS=1000 SEED=1    # as many worlds as one has time for
//	make simulate WORLDS=1 SEED=17      # one of them again
//
// A seed gives the same world with the same faults at the same times; which of two goroutines that are due at the same
// instant comes first is up to Go's scheduler, so a run that failed will often, not always, fail again.
//
// chaos does the same with real servers, real processes and real clocks: there are few worlds, and each takes its time.
package simulation

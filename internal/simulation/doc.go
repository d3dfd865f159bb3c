// Package simulation tries all kinds of locks in worlds that are drawn by lot: one to five nodes, near or far, one to five
// programs with up to a hundred goroutines each, and whatever goes wrong with nodes, networks and programs. They live in
// virtual time (see package virtual), so that a minute of a world takes a second, and no world depends on how busy the
// machine is. A judge watches what the goroutines were granted, and says which promise was broken.
//
//	go test ./internal/simulation -worlds 500 -from 1000 -v    # as many worlds as one has time for
//	go test ./internal/simulation -run Worlds/1017 -worlds 500 -from 1000 -v    # one of them again
//
// A seed gives the same world with the same faults at the same times; which of two goroutines that are due at the same
// instant comes first is up to Go's scheduler, so a run that failed will often, not always, fail again.
//
// chaos does the same with real servers, real processes and real clocks: there are few worlds, and each takes its time.
package simulation

// Command chaos holds Holdfast to its promises while things go wrong.
//
// A run sets up a [Cell]: several worker processes that take locks, from one, three or
// five redis-servers, over a network of proxies. It injects the faults of a [schedule]
// drawn from a seed: servers are killed, stopped, made to forget or given another
// clock, requests and replies are lost or late, workers are stopped and killed. All
// that is asked and answered goes into a [History], on one clock for all processes.
// Then [checkers] look for a promise that was broken.
//
// That a checker finds what it looks for is shown with [mutants]: bugs that are planted
// into the library when a worker is built, and each of which must be found.
//
// It needs Linux, redis-server on the PATH (or the server that HOLDFAST_SERVER names), and
// cc for the servers' clocks; without cc it says what it leaves out. What came of its runs is in docs/reliability.md.
//
// The same seed gives the same faults at the same times and the same choices of the
// workers. What a process does between two of its steps, and how long a packet takes,
// is up to the machine: a run that failed will often, not always, fail again.
package main

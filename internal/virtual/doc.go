// Package virtual gives tests Redis nodes that live in virtual time: miniredis servers
// inside a bubble of testing/synctest, reached over connections in memory. A test of a
// day takes a moment, and its times are exact.
//
// A [Node] can be made silent, slow, dead or forgetful at any moment, and remembers
// which commands it has executed and when. The clock of its keys and of its TIME is
// the bubble's.
//
// Why connections of its own: I/O on a socket does not count as waiting in a bubble, so
// its clock would never move; and a net.Pipe blocks the writer until the reader has
// come, which no network does.
//
// What it does not promise: miniredis is not Redis. What a server does with a script
// is for tests with real ones, see package redistest.
//
// Nodes are safe for concurrent use. They must be made and used in one bubble; what is
// made with a testing.TB is gone before the bubble ends. They also work in real time, for
// package locktest; see [StartInRealTime].
package virtual

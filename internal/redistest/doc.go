// Package redistest gives tests real Redis servers and real network faults.
//
// A [Server] is a process of the server that package redisbin names, on a free loopback
// port. It belongs to the test that started it: it is gone when the test ends, and on
// Linux also when the test binary is killed. It can be killed, stopped, paused
// and restarted on the same port and data directory. [StartCluster] and
// [StartSentinel] build the smallest deployments of those kinds.
//
// A [Proxy] stands between a client and a server and loses what a network
// loses: a request, a reply, the connection, or only the time. It understands
// the protocol, so that a fault can be aimed at one command: "the acquisition
// was executed, its reply never arrived".
//
// What it does not promise: it does not change clocks, does not simulate disks,
// and knows neither TLS nor passwords. Where virtual time matters more than a real
// server, use miniredis under testing/synctest instead.
//
// Everything here is safe for concurrent use unless stated otherwise. Methods
// that take a testing.TB may end the test and must be called from its
// goroutine. Methods without one report failure through the test that created
// the value, without ending it, and may be called from any goroutine; once that
// test has ended they do nothing.
package redistest

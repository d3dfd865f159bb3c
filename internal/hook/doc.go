// Package hook lets package locktest see what the locks of a client do: who calls, who
// waits, which leases there are. It stands below package lock, which provides its part
// here, so that nothing of it is in package lock's public API.
package hook

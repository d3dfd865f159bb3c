// Package hook lets package locktest do what no program can do with its locks. It stands below
// package lock, which provides its part here, so that nothing of it is in package lock's public API.
package hook

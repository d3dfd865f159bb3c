// Package hook lets package locktest do things to locks that programs cannot do. It is below
// package lock, which provides its part here, so that nothing of it is in package lock's public
// API.
package hook

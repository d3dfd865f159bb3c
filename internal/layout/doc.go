// Package layout holds what the compiler does not: that imports point down only, that tests
// sleep in virtual time only, and that the list of goroutines in docs/goroutines.md is
// complete. It has tests only.
package layout

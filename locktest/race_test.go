//go:build race

package locktest_test

// race tells whether the race detector watches: scripts take it ten times as long.
const race = true

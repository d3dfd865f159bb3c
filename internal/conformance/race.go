//go:build race

package conformance

// race tells whether the race detector watches.
const race = true

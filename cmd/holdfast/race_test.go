//go:build race

package main

// buildFlags have the binary under test look for data races, as its tests do.
var buildFlags = []string{"-race"}

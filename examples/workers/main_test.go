package main

import (
	"testing"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
	"github.com/holdfast-go/holdfast/examples/internal/fleet"
)

// TestMain also is the main function of the workers: what a test runs is this program.
func TestMain(m *testing.M) {
	if !fleet.Join(work) {
		exampletest.Main(m)
	}
}

func TestEachWorkerHasANumberAndKeepsIt(t *testing.T) {
	// The race detector lets every program end a second late, unless it is told not to.
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	exampletest.Run(t, 3, manage, func(t *testing.T, told exampletest.Told) {
		told.InOrder(t,
			"ann     arrives", "ann     has number 0",
			"bob     arrives", "bob     has number 1",
			"cid     arrives", "cid     has number 2",
			"dan     arrives", // no number is free
			"bob     is killed",
			"dan     has number 1",
			"manager sees that 0 is ann's, 1 is dan's, 2 is cid's",
			"The shift is over.",
		)
		for _, gives := range []string{"ann     gives number 0", "cid     gives number 2", "dan     gives number 1"} {
			told.InOrder(t, "manager sees", gives, "The shift is over.")
		}
	})
}

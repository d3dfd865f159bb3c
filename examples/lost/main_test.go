package main

import (
	"testing"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

func TestWorkStopsWhenItsLockIsLost(t *testing.T) {
	exampletest.Run(t, 1, lose, func(t *testing.T, told exampletest.Told) {
		told.InOrder(t,
			`worker  locked "import" for 1.5s`,
			"worker  imported record 3",
			"ops     ended the lock by force",
			`worker  stopped: lock "import" (hold `,
			"worker  unlocked it: lease is lost, it was ended by ForceUnlock",

			`worker  locked "import" for 1.5s`,
			"worker  imported record 3",
			"redis   node 1 is",
			`worker  stopped: lock "import" (hold `,
			"worker  unlocked it: lease is lost, it was not renewed before its validity ended",
		)
	})
}

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

func TestTheResourceRefusesAStaleToken(t *testing.T) {
	exampletest.Run(t, 1, fence, func(t *testing.T, told exampletest.Told) {
		told.InOrder(t,
			`ann     locked "report" for 500ms, with token`,
			"ann     wrote her draft, and is paused",
			"bob     locked it once ann's lease had ended, with token",
			"bob     wrote his report",
			"ann     wakes up, and writes",
			"report  refuses: stale token",
			"ann     looks at her lease: lease is lost",
			`report  reads "bob's report"`,
		)
	})
}

func TestADocumentTakesItsHoldersWrites(t *testing.T) {
	var d document
	require.NoError(t, d.write(1, "a"))
	require.NoError(t, d.write(1, "b"), "the same hold writes again")
	require.NoError(t, d.write(3, "c"))
	require.ErrorIs(t, d.write(2, "d"), errStale)
	require.Equal(t, "c", d.text)
}

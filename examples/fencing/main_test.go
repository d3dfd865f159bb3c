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
			`ann     claimed the report and read "two pages", and is paused`,
			"bob     locked it once ann's lease had ended, with token",
			`bob     claimed the report and read "two pages", and works on it`,
			"ann     wakes up, and writes",
			"report  refuses: stale token",
			"ann     looks at her lease: ",
			"bob     writes",
			`report  reads "two pages and bob's"`,
		)
	})
}

func TestADocumentIsItsLastClaimants(t *testing.T) {
	d := document{text: "a"}
	text, err := d.claim(1)
	require.NoError(t, err)
	require.Equal(t, "a", text)
	require.NoError(t, d.write(1, "b"))
	require.NoError(t, d.write(1, "c"), "the same hold writes again")
	text, err = d.claim(3)
	require.NoError(t, err)
	require.Equal(t, "c", text)
	require.ErrorIs(t, d.write(1, "d"), errStale, "between the read and the write of 3")
	_, err = d.claim(2)
	require.ErrorIs(t, err, errStale)
	require.NoError(t, d.write(3, "e"))
	require.Equal(t, "e", d.text)
}

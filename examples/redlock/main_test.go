package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

func TestAMinorityDiesAndTheLockHolds(t *testing.T) {
	exampletest.Run(t, 5, surviveMinority, func(t *testing.T, told exampletest.Told) {
		told.InOrder(t,
			`ann     locked "ledger" for 1.5s on 5 masters; 3 of them are a quorum`,
			"redis   node 1 is",
			"redis   node 2 is",
			"ann     still has it after two TTLs",
			"bob     tried it: locked by another owner",
			"redis   node 3 is",
			"ann     stops: lease is lost",
			"bob     waited for it in vain: 2 masters are not a quorum",
		)
	})
}

func TestOneMasterIsNotEnough(t *testing.T) {
	set, err := nodes.Embed(1)
	require.NoError(t, err)
	defer set.Close()
	var out bytes.Buffer
	require.ErrorContains(t, surviveMinority(t.Context(), set, story.New(&out)), "name at least three")
}

package main

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

func TestQuickstart(t *testing.T) {
	exampletest.Run(t, 1, quickstart, func(t *testing.T, told exampletest.Told) {
		told.InOrder(t,
			`ann     locked "orders:42" for 1s`,
			"bob     tried it: locked by another owner",
			"ann     locked it again in a nested call: count 2, same token",
			"ann     worked for 2.5s and still has it",
			"bob     locked it",
		)
		tokens := regexp.MustCompile(`with token (\d+)`).FindAllStringSubmatch(string(told), -1)
		require.Len(t, tokens, 2)
		anns, err := strconv.ParseInt(tokens[0][1], 10, 64)
		require.NoError(t, err)
		bobs, err := strconv.ParseInt(tokens[1][1], 10, 64)
		require.NoError(t, err)
		require.Greater(t, bobs, anns)
	})
}

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

func TestTransfersInBothDirectionsEndAndKeepTheSum(t *testing.T) {
	for _, n := range []int{1, 3} {
		exampletest.Run(t, n, transfer, func(t *testing.T, told exampletest.Told) {
			require.Equal(t, 1, told.Count("ann     sent 50 to bob, in 50 transfers"))
			require.Equal(t, 1, told.Count("bob     sent 50 to ann, in 50 transfers"))
			told.InOrder(t, "bank    ann has 100, bob has 100: 200 together")
		})
	}
}

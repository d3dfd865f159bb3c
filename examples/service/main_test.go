package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

func TestOrderIsShippedOnceByTwoInstances(t *testing.T) {
	exampletest.Run(t, 1, serve, func(t *testing.T, told exampletest.Told) {
		require.Equal(t, 1, told.Count("takes it"))
		require.Equal(t, 2, told.Count("200 OK"))
	})
}

package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

func TestOneOfManySchedulersRunsTheJob(t *testing.T) {
	exampletest.Run(t, 1, schedule, func(t *testing.T, told exampletest.Told) {
		for slot := 1; slot <= times; slot++ {
			require.Equal(t, 1, told.Count(fmt.Sprintf("runs backup %d\n", slot)))
		}
		told.InOrder(t, "runs backup 1", "runs backup 2", "runs backup 3", "runs backup 4", "4 runs.")
	})
}

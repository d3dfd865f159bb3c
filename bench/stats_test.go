package main

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatistics(t *testing.T) {
	require.InDelta(t, 2.0, median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 2.5, median([]float64{4, 1, 2, 3}), 0)
	require.True(t, math.IsNaN(median(nil)))

	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(i + 1)
	}
	require.InDelta(t, 50.0, quantile(hundred, 0.50), 0)
	require.InDelta(t, 99.0, quantile(hundred, 0.99), 0)
	require.InDelta(t, 100.0, quantile(hundred, 1), 0)
	require.InDelta(t, 50.5, mean(hundred), 0)

	require.InDelta(t, 1.0, jain([]int64{7, 7, 7, 7}), 1e-9)
	require.InDelta(t, 0.25, jain([]int64{7, 0, 0, 0}), 1e-9)
}

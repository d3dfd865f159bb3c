package lock

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// Rivals that know the same free slots are not to name the same ones again and again; and a fleet that needs few has
// low ones.
func TestTheCommonSlotsAreTheLowestOrNearThem(t *testing.T) {
	var first, second, third []int
	for i := range 100 {
		first, second, third = append(first, 2*i), append(second, 2*i+1), append(third, i)
	}
	lists := [][]int{first, second, third} // the second and third share the odd numbers, the first and third the even ones
	require.Equal(t, lua.SlotsOf([]int{0, 2}), common(lists, 2, 2, 1))
	require.Empty(t, common(lists, 1, 3, 1))
	require.Equal(t, lua.SlotsOf(first[:50]), common(lists, 50, 2, 64), "there are no others")
	require.Empty(t, common(lists, 51, 2, 64))
	had := make(map[lua.Slots]int)
	for range 1000 {
		slots := common(lists, 2, 2, 8)
		require.Less(t, slots.List()[0], 16)
		require.Equal(t, slots.List()[0]+2, slots.List()[1])
		had[slots]++
	}
	require.Len(t, had, 8)
}

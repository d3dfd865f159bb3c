package readwrite_test

import (
	"slices"
	"testing"
	"time"
)

// Nodes that cannot take it in when they are told that a tenure reads from now on let nobody else read. They are told
// again soon, and not just with the next regular renewal.
func TestNodesThatDidNotHearThatATenureReadsAreToldAgainSoon(t *testing.T) {
	inBubbles(t, func(t *testing.T, b *bubble) {
		m, other := b.mutex(t), b.mutex(t)
		reading := b.warm(t, m)
		refuse := func(match func([]string) bool) {
			for _, n := range b.nodes {
				n.Refuse(match)
			}
		}
		time.Sleep(20 * time.Millisecond)
		refuse(func(args []string) bool { return slices.Contains([]string{"EVALSHA", "EVAL"}, args[0]) })
		time.Sleep(40 * time.Millisecond) // by then nobody has written for long
		refuse(nil)
		time.Sleep(time.Second)
		unlock(t, must(t, other.TryRLock), reading)
	})
}

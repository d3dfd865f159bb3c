package readwrite_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
)

// A node may grant a hold when it is over, and others have had the lock there. The release, which sets
// the counter to the hold's token for those who read, must not take back what they were told (I3).
func TestAReleaseThatComesLateTakesNoTokenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, 3)
		mine, theirs, others := b.mutex(t), b.mutex(t), b.mutex(t)
		scripts := virtual.Name("EVALSHA", "EVAL")
		unlock(t, must(t, others.Lock)) // all nodes count alike
		synctest.Wait()

		b.nodes[2].SetDelay(100*time.Millisecond, 0)
		first := must(t, mine.Lock)
		unlock(t, first)
		b.nodes[2].SetDelay(0, 0)
		b.nodes[0].Refuse(scripts)
		second := must(t, theirs.Lock)
		require.Equal(t, first.Token()+1, second.Token())
		unlock(t, second)
		b.nodes[0].Refuse(nil)
		time.Sleep(200 * time.Millisecond) // node 2 grants the first hold, and ends it
		_, left := b.nodes[2].Holder(b.keys.Lock)
		require.Zero(t, left)

		b.nodes[1].Refuse(scripts)
		third := must(t, others.Lock)
		require.Greater(t, third.Token(), second.Token())
		unlock(t, third)
	})
}

package waiter_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/waiter"
)

// A name is given up when its last listener has left, and not with each that leaves.
func TestANameIsKeptForThoseWhoStay(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, h *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, stays *ear) {
		leaves, _ := listen(t, h, "orders")
		leaves.Close()
		time.Sleep(time.Minute)
		say(t, clients, "one")
		require.Equal(t, []string{"one"}, stays.all())
	})
}

// Whoever listens to a name that was given up before is not disturbed by what is left of that.
func TestANameThatWasGivenUpIsHeardAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clients := virtual.NewHost(virtual.StartN(t, 3)).Clients(t)
		h := newHub(t, clients...)
		first, _ := listen(t, h, "orders")
		first.Close()
		time.Sleep(time.Minute)
		_, e := listen(t, h, "orders")
		time.Sleep(time.Minute)
		say(t, clients, "one")
		require.Equal(t, []string{"one"}, e.all())
		first.Close() // again
		time.Sleep(time.Minute)
		say(t, clients, "two")
		require.Equal(t, []string{"one", "two"}, e.all())
	})
}

// There is nobody who would repeat what the only node says: the same message again is another one.
func TestTheOnlyNodeMayRepeatAMessage(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, _ *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, e *ear) {
		say(t, clients, "free")
		say(t, clients, "free")
		require.Equal(t, []string{"free", "free"}, e.all())
	})
}

// The grace of several messages may be over at once: each of them wakes.
func TestEachMessageOfAMinorityWakes(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, _ *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, e *ear) {
		for _, message := range []string{"one", "two", "three"} {
			say(t, clients[:1], message)
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"one", "two", "three"}, e.all())
	})
}

// Nobody is woken after Close, even by a message that came before and had its grace.
func TestNobodyIsWokenAfterClose(t *testing.T) {
	inBubble(t, 3, func(t *testing.T, h *waiter.Hub, _ []*virtual.Node, clients []redis.UniversalClient, e *ear) {
		say(t, clients[:1], "one")
		h.Close()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, e.all())
	})
}

// A connection that breaks is made anew at once, however often others have broken before it: the pauses grow only while
// none can be made.
func TestEachConnectionThatBreaksIsMadeAnewAtOnce(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, _ *waiter.Hub, nodes []*virtual.Node, _ []redis.UniversalClient, e *ear) {
		for i := range 20 {
			nodes[0].Restart()
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			require.Equal(t, i+1, e.count(""), "everyone looks again")
			time.Sleep(time.Second)
		}
	})
}

package lock

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// What a process remembers of others it forgets with their marks.
func TestANameThatNobodyHereWantsIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := contestKey{lock: "lock:{orders}"}
		c := &core{id: "own", contests: make(map[contestKey]*contest)}
		known := func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.contests[key] != nil
		}
		use := func(marks map[string]lua.FarMark) {
			c.mu.Lock()
			defer c.mu.Unlock()
			ct := c.contest(key)
			ct.learn(false, marks, time.Now())
			ct.tidy()
		}
		use(nil)
		require.False(t, known())

		mark := map[string]lua.FarMark{"far": {ID: "far:1", Chance: time.Millisecond}}
		use(mark)
		time.Sleep(farLife - time.Millisecond)
		require.True(t, known())
		use(mark)
		time.Sleep(farLife - time.Millisecond)
		require.True(t, known(), "since it was last used")
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.False(t, known())

		use(mark)
		c.mu.Lock()
		c.contests[key].tenure = new(tenure) // somebody here has it meanwhile
		c.mu.Unlock()
		time.Sleep(farLife + time.Millisecond)
		require.True(t, known())
		c.mu.Lock()
		c.contests[key].tenure = nil
		c.contests[key].tidy()
		c.mu.Unlock()
		time.Sleep(farLife + time.Millisecond)
		require.False(t, known())

		use(mark)
		c.mu.Lock()
		before := c.contests[key]
		c.mu.Unlock()
		use(nil) // the mark is gone
		require.False(t, known())
		c.mu.Lock()
		c.contest(key).tenure = new(tenure)
		c.mu.Unlock()
		before.published("far:1") // a message that was on its way
		require.Zero(t, before.rivals.lost, "it is of no account")
		time.Sleep(farLife + time.Millisecond)
		require.True(t, known(), "what was forgotten takes nothing else with it")
	})
}

package redistest

import (
	"io"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestDropReplyExecutesTheCommand(t *testing.T) {
	s, p, c := faulty(t)
	drop := p.DropReply(Command("SET"), 2)

	require.ErrorIs(t, c.Set(bg, "a", 1, 0).Err(), io.EOF)
	require.Equal(t, 1, drop.Hits())
	require.Equal(t, []string{"a"}, s.Keys(t))
	require.NoError(t, c.Ping(bg).Err(), "others pass")
	require.ErrorIs(t, c.Set(bg, "b", 1, 0).Err(), io.EOF)
	drop.Wait(t)

	require.NoError(t, c.Set(bg, "c", 1, 0).Err(), "no more than n")
	require.Equal(t, 2, drop.Hits())
	require.Equal(t, []string{"a", "b", "c"}, s.Keys(t))
}

func TestDropReplyMakesADefaultClientSendAgain(t *testing.T) {
	s := Start(t)
	p := NewProxy(t, s.Addr())
	p.DropReply(Command("INCR"), 2)
	require.EqualValues(t, 3, p.Client(t).Incr(bg, "n").Val())
	require.Equal(t, 3, p.Commands(Command("INCR")))
}

func TestDropReplyInAPipelineKeepsEarlierReplies(t *testing.T) {
	s, p, _ := faulty(t)
	drop := p.DropReply(Command("INCR"), 1)
	p.SetDelay(20 * time.Millisecond)
	conn := dial(t, p)
	conn.writeAll([]string{"SET", "n", "6"}, []string{"GET", "n"}, []string{"INCR", "n"}, []string{"SET", "after", "1"})
	require.Equal(t, "OK", conn.read().text)
	require.Equal(t, "6", conn.read().text)
	conn.end()
	require.Equal(t, 1, drop.Hits())
	require.Equal(t, "7", s.Client(t).Get(bg, "n").Val())
	Eventually(t, within, func() bool { return len(s.Keys(t)) == 2 }, "the rest of the pipeline is executed")
}

func TestSwallowReplyLeavesTheConnectionSilent(t *testing.T) {
	t.Parallel()
	s, p, c := faulty(t)
	drop := p.SwallowReply(Command("SET"), 1)
	require.True(t, isTimeout(c.Set(bg, "a", 1, 0).Err()))
	drop.Wait(t)
	require.Equal(t, []string{"a"}, s.Keys(t))

	p.SwallowReply(Command("SET"), 1)
	conn := dial(t, p)
	conn.writeAll([]string{"PING"}, []string{"SET", "b", "1"}, []string{"SET", "c", "1"})
	require.Equal(t, "PONG", conn.read().text)
	require.True(t, conn.silent(30*time.Millisecond))
	Eventually(t, within, func() bool { return len(s.Keys(t)) == 3 }, "everything is executed")
	s.Kill()
	require.True(t, conn.silent(30*time.Millisecond))
}

func TestDropRequestNeverReachesTheServer(t *testing.T) {
	s, p, c := faulty(t)
	drop := p.DropRequest(Command("SET"), 1)
	require.ErrorIs(t, c.Set(bg, "a", 1, 0).Err(), io.EOF)
	require.Equal(t, 1, drop.Hits())
	require.Zero(t, p.Commands(Command("SET")))
	require.NoError(t, c.Set(bg, "b", 1, 0).Err())
	require.Equal(t, []string{"b"}, s.Keys(t))
}

func TestDropRequestInAPipelineKeepsEarlierReplies(t *testing.T) {
	s, p, _ := faulty(t)
	drop := p.DropRequest(Command("INCR"), 1)
	p.SetDelay(20 * time.Millisecond)
	conn := dial(t, p)
	conn.writeAll([]string{"PING"}, []string{"PING"}, []string{"INCR", "n"}, []string{"SET", "after", "1"})
	require.Equal(t, "PONG", conn.read().text)
	require.Equal(t, "PONG", conn.read().text)
	conn.end()
	drop.Wait(t)
	require.Empty(t, s.Keys(t))
}

func TestDuplicateExecutesTwice(t *testing.T) {
	s, p, c := faulty(t)
	drop := p.Duplicate(Command("INCR"), 1)
	require.EqualValues(t, 1, c.Incr(bg, "n").Val(), "the first reply")
	require.Equal(t, 1, drop.Hits())
	require.Equal(t, 2, p.Commands(Command("INCR")))
	require.Equal(t, "2", c.Get(bg, "n").Val(), "replies stay in step")
	require.EqualValues(t, 3, c.Incr(bg, "n").Val())
	require.Equal(t, []string{"n"}, s.Keys(t))
}

func TestHeldCommandArrivesAfterItsClientLeft(t *testing.T) {
	t.Parallel()
	s, p, c := faulty(t)
	held := p.Hold(Command("SET"), 1)
	require.True(t, isTimeout(c.Set(bg, "late", 1, 0).Err()))
	held.Wait(t)
	require.NoError(t, c.Close())
	Eventually(t, within, func() bool { return p.Connections() == 0 }, "the client is gone")
	require.Empty(t, s.Keys(t))
	require.Zero(t, p.Commands(Command("SET")))

	held.Release()
	Eventually(t, within, func() bool { return len(s.Keys(t)) == 1 }, "the command arrives late")
	require.Equal(t, 1, p.Commands(Command("SET")))
	held.Release()
}

func TestHeldCommandSurvivesReset(t *testing.T) {
	t.Parallel()
	s, p, c := faulty(t)
	held := p.Hold(Command("SET"), 1)
	require.Error(t, c.Set(bg, "late", 1, 0).Err())
	held.Wait(t)
	p.Reset()
	held.Release()
	Eventually(t, within, func() bool { return len(s.Keys(t)) == 1 }, "the command arrives late")
}

func TestHoldKeepsTheOrderOfAConnection(t *testing.T) {
	s, p, c := faulty(t)
	held := p.Hold(Command("INCR"), 2)
	conn := dial(t, p)
	conn.writeAll([]string{"PING"}, []string{"INCR", "n"}, []string{"GET", "n"}, []string{"INCR", "n"})
	require.Equal(t, "PONG", conn.read().text)
	held.Wait(t)
	require.NoError(t, c.Set(bg, "n", 5, 0).Err(), "other connections go on")
	require.Equal(t, []string{"n"}, s.Keys(t))

	held.Release()
	require.Equal(t, "6", conn.read().text)
	require.Equal(t, "6", conn.read().text)
	require.Equal(t, "7", conn.read().text)
}

func TestReleaseHoldsNothingFurther(t *testing.T) {
	_, p, c := faulty(t)
	held := p.Hold(Command("SET"), 5)
	held.Release()
	require.NoError(t, c.Set(bg, "k", 1, 0).Err())
	p.DropReply(Command("SET"), 1)
	require.ErrorIs(t, c.Set(bg, "k", 1, 0).Err(), io.EOF, "nor does it shadow other faults")
}

func TestReplyFaultsWaitForTheScriptToRun(t *testing.T) {
	s, p, c := faulty(t)
	script := redis.NewScript(`return redis.call("INCR", KEYS[1])`)
	drop := p.DropReply(Script(script.Hash()), 1)
	require.EqualValues(t, 1, script.Run(bg, c, []string{"n"}).Val(), "NOSCRIPT, then EVAL")
	require.Zero(t, drop.Hits())
	require.ErrorIs(t, script.Run(bg, c, []string{"n"}).Err(), io.EOF)
	require.Equal(t, 1, drop.Hits())
	require.Equal(t, "2", s.Client(t).Get(bg, "n").Val())
	require.Equal(t, 2, p.Commands(Script(script.Hash())))
	require.Equal(t, 3, p.Commands(Any(Script(script.Hash()), Command("EVAL"))))

	require.NoError(t, c.ScriptFlush(bg).Err())
	twice := p.Duplicate(Script(script.Hash()), 1)
	require.EqualValues(t, 3, script.Run(bg, c, []string{"n"}).Val())
	require.Zero(t, twice.Hits())
	require.EqualValues(t, 4, script.Run(bg, c, []string{"n"}).Val())
	require.Equal(t, 1, twice.Hits())
	require.EqualValues(t, 6, script.Run(bg, c, []string{"n"}).Val())
}

package waiter

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

type refusal struct{}

func (refusal) Error() string { return "NOPERM this user has no permissions" }
func (refusal) RedisError()   {}

// oneLine is the only line of a hub that hears "orders", and whether it is heard. Its client reaches nothing, and counts
// how often it tries.
func oneLine(t *testing.T) (l *line, isReady func() bool, dials *atomic.Int32) {
	dials = new(atomic.Int32)
	client := redis.NewClient(&redis.Options{MaxRetries: -1, DialerRetries: 1, Dialer: func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		return nil, errors.New("nobody is there")
	}})
	t.Cleanup(func() { _ = client.Close() })
	h := New([]redis.UniversalClient{client}, 1, nil)
	t.Cleanup(h.Close)
	h.start.Do(func() {}) // nothing connects
	s := h.Subscribe("orders", func(string) {})
	l = newLine(context.Background(), h, 0, "node", client, slog.New(slog.DiscardHandler))
	l.want("orders")
	l.changes()
	l.receive(&redis.Subscription{Kind: "subscribe", Channel: "orders"})
	isReady = func() bool {
		select {
		case <-s.Ready():
			return true
		default:
			return false
		}
	}
	require.True(t, isReady())
	return l, isReady, dials
}

// A line that has confirmed twice, as it was asked twice, is one line all the same.
func TestALineThatConfirmsTwiceIsLostOnce(t *testing.T) {
	l, isReady, _ := oneLine(t)
	l.receive(&redis.Subscription{Kind: "subscribe", Channel: "orders"})
	require.True(t, isReady())
	l.lost()
	require.False(t, isReady())
}

// What a line has heard it hears no more once its connection is given up, for whichever reason.
func TestALineThatIsGivenUpHearsNothing(t *testing.T) {
	for what, end := range map[string]func(*line) bool{
		"others take its place": func(l *line) bool {
			l.giveUp = func() bool { return true }
			return l.isOver()
		},
		"its master has left": func(l *line) bool {
			l.resettle = func() bool { return true }
			return l.isOverWhenQuiet(nil)
		},
		"it connects anew": func(l *line) bool {
			l.pubsub = l.client.Subscribe(l.ctx)
			l.renew(l.pubsub)
			l.cancel()
			return true
		},
		"its connection breaks": func(l *line) bool {
			l.cancel()
			return !l.failed(errors.New("connection reset"))
		},
	} {
		l, isReady, _ := oneLine(t)
		require.True(t, end(l), what)
		require.False(t, isReady(), what)
		require.Error(t, l.ctx.Err(), what)
		l.join()
	}
	l, isReady, _ := oneLine(t)
	l.giveUp, l.resettle = func() bool { return false }, func() bool { return false }
	require.False(t, l.isOver())
	require.False(t, l.isOverWhenQuiet(nil))
	require.True(t, isReady(), "there is no other")
	require.NoError(t, l.ctx.Err())
}

// A server that is quiet is looked for again and again: it may have changed since. One that does not tell which it is
// is not asked at all.
func TestAQuietServerIsLookedForEachTime(t *testing.T) {
	l, _, dials := oneLine(t)
	require.False(t, l.isOverWhenQuiet(nil))
	l.done.Wait()
	require.Zero(t, dials.Load())
	l.server = "known"
	for i := range int32(3) {
		require.False(t, l.isOverWhenQuiet(nil))
		l.done.Wait()
		require.Equal(t, i+1, dials.Load())
	}
}

// A new connection begins with what is wanted, and nothing else; and with the pauses of the one before, as a server that
// refuses goes on refusing.
func TestANewConnectionBeginsWithWhatIsWanted(t *testing.T) {
	l, _, _ := oneLine(t)
	l.want("gone")
	l.changes()
	l.unwant("gone")
	l.refused.times, l.refused.commands = 5, 2
	l.pubsub = l.client.Subscribe(l.ctx)
	l.renew(l.pubsub)
	require.Equal(t, refused{times: 5}, l.refused)
	_, add, drop, again := l.changes()
	require.Equal(t, []string{"orders"}, add)
	require.Empty(t, drop)
	require.Empty(t, again)
	l.lost()
	require.Len(t, l.refused.open, 1)
	require.Contains(t, l.refused.open, "orders")
	_ = l.pubsub.Close()
}

// A connection is intact if one of the commands on it was refused. Otherwise there is none, and the next one waits.
func TestARefusalWithoutACommandIsThatOfAConnection(t *testing.T) {
	l, isReady, _ := oneLine(t)
	require.False(t, l.failed(refusal{}))
	l.refused.commands = 1
	require.True(t, l.failed(refusal{}))
	require.True(t, isReady(), "what was heard before is heard on")
	require.False(t, l.failed(errors.New("connection reset")))
}

// A server that goes on refusing is logged once, until nothing is refused any more: what it refuses is tried again and again.
func TestARefusalIsLoggedOnce(t *testing.T) {
	l, _, _ := oneLine(t)
	var log bytes.Buffer
	l.logger = slog.New(slog.NewTextHandler(&log, nil))
	for n := 1; n <= 2; n++ {
		for range 3 {
			l.refused.sent("orders")
			l.failed(refusal{})
			l.failed(errors.New("connection reset"))
			l.refused.take(l.wanted, time.Now().Add(time.Hour))
		}
		require.Equal(t, n, strings.Count(log.String(), "level=WARN"))
		l.refused.confirm("orders")
	}
}

// A dial that takes too long is no silence of a connection.
func TestADialThatTakesTooLongIsNoSilence(t *testing.T) {
	require.False(t, isSilence(&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}))
	require.True(t, isSilence(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}))
	require.False(t, isSilence(&net.OpError{Op: "read", Err: errors.New("connection reset")}))
}

// A channel that nobody wants any more is not waited for, so that nothing is tried again for it.
func TestWhatNobodyWantsIsNotTriedAgain(t *testing.T) {
	l, _, _ := oneLine(t)
	l.want("refused")
	l.changes()
	l.refused.add(time.Now())
	require.False(t, l.retries().IsZero())
	l.unwant("refused")
	l.changes()
	require.Empty(t, l.refused.open)
	require.Empty(t, l.refused.take(l.wanted, time.Now().Add(time.Hour)))
	require.True(t, l.retries().IsZero(), "the writer has nothing to wake up for")
}

// Once everything is heard, a refusal is the first one again, and a ping that is refused is one.
func TestOnceEverythingIsHeardNothingIsLeftOfRefusals(t *testing.T) {
	l, _, _ := oneLine(t)
	l.refused.sent("one")
	l.refused.sent("two")
	l.refused.commands = 3
	l.refused.add(time.Now())
	l.refused.times = 5
	l.refused.confirm("one")
	require.Equal(t, 5, l.refused.times)
	require.False(t, l.isPingRefused(refusal{}))
	l.refused.confirm("two")
	require.Empty(t, l.refused.open)
	l.refused.open = nil
	require.Equal(t, refused{}, l.refused)
	require.True(t, l.isPingRefused(refusal{}))

	l.refused.commands = 3
	l.refused.lose(nil)
	require.True(t, l.isPingRefused(refusal{}), "what was sent went with its connection")
}

// What was refused is tried again in groups, and every other time one by one, but no more than so many.
func TestHowManyAreTriedAgainAtOnce(t *testing.T) {
	var r refused
	wanted := make(map[string]struct{})
	for i := range 3 * maxEach {
		wanted[strconv.Itoa(i)] = struct{}{}
		r.sent(strconv.Itoa(i))
	}
	r.sent("unwanted")
	now := time.Now()
	r.add(now)
	for i := range 6 {
		require.LessOrEqual(t, r.retry.Sub(now), lastRetry)
		require.Empty(t, r.take(wanted, r.retry.Add(-1)), "not yet")
		now = r.retry
		groups := r.take(wanted, now)
		if i%2 == 0 {
			require.Len(t, groups, 3*maxEach/group)
		} else {
			require.Len(t, groups, maxEach)
		}
		for _, g := range groups {
			require.NotContains(t, g, "unwanted")
			require.Equal(t, i%2 == 1, len(g) == 1)
		}
	}
	for range 20 {
		r.again(now)
		require.LessOrEqual(t, r.retry.Sub(now), lastRetry)
	}
}

package lua_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
)

var bg = context.Background()

// caller makes up calls about a few names, by few holds: so that they meet, and often have
// arguments in common.
type caller struct {
	*rand.Rand
	names []lua.Keys
}

func newCaller(t *testing.T, seed uint64) caller {
	c := caller{Rand: rand.New(rand.NewPCG(seed, 0))}
	for i := range 8 {
		keys, err := lua.NewKeys("lock", fmt.Sprint(i))
		require.NoError(t, err)
		c.names = append(c.names, keys)
	}
	return c
}

func (c caller) pick(from ...int64) int64 { return from[c.IntN(len(from))] }

func (c caller) call() lua.Call {
	keys := c.names[c.IntN(len(c.names))]
	hold := fmt.Sprint("client:", c.IntN(5))
	ttl := time.Duration(c.pick(100, 1000)) * time.Second
	mark := time.Duration(c.pick(0, 0, 100)) * time.Second
	round := c.Int64N(3)
	fair := lua.Fair{Keys: keys, Channel: "lock:channel:", Alone: true, Life: 100 * time.Second}
	ticket := lua.Ticket{Number: c.Int64N(9), Final: c.IntN(2) == 0}
	if c.IntN(8) == 0 {
		return lua.Server{Keys: keys}.Call()
	}
	if keys.Lock < c.names[len(c.names)/2].Lock {
		switch c.IntN(4) {
		case 0, 1:
			return lua.Acquire{Keys: keys, Hold: hold, TTL: ttl, Retention: time.Hour, Guard: time.Duration(c.pick(0, 0, 0, 100)) * time.Second}.Call()
		case 2:
			return lua.Release{Keys: keys, Hold: hold, Mark: mark, Quiet: c.IntN(2) == 0}.Call()
		}
		return lua.Extend{Keys: keys, Hold: hold, Count: c.IntN(3) + 1, TTL: ttl, Token: 7, Retention: time.Hour, Queued: c.IntN(2) == 0}.Call()
	}
	switch c.IntN(8) {
	case 0, 1, 2:
		return lua.FairAcquire{Fair: fair, Hold: hold, TTL: ttl, Retention: time.Hour, Wait: c.IntN(3) > 0, Ticket: ticket, Round: round}.Call()
	case 3:
		return lua.FairYield{Fair: fair, Hold: hold, Ticket: ticket, Round: round}.Call()
	case 4:
		return lua.FairSettle{Fair: fair, Hold: hold}.Call()
	case 5:
		return lua.FairBeat{Fair: fair, Name: "beat", Holds: []string{hold, "client:4"}[:1+c.IntN(2)]}.Call()
	case 6:
		return lua.Fence{Keys: keys, Hold: hold, Token: c.Int64N(2000), Retention: time.Hour}.Call()
	}
	served := []string{"client:4", "client:0"}[:c.IntN(3)]
	return lua.FairRelease{Fair: fair, Hold: hold, Mark: mark, Successor: fmt.Sprint("client:", c.IntN(5)), Again: c.IntN(4) == 0, Served: served}.Call()
}

// server is a fresh one whose fencing counters go on from somewhere, with two names whose
// keys are of a wrong type, and somebody who hears every message.
func server(t *testing.T, c caller) (*redis.Client, <-chan *redis.Message) {
	t.Helper()
	client := redistest.Start(t).Client(t)
	for _, keys := range c.names {
		require.NoError(t, client.Set(bg, keys.Token(), 1000, time.Hour).Err())
	}
	require.NoError(t, client.Set(bg, c.names[0].Lock, "taken", 0).Err())
	require.NoError(t, client.Set(bg, c.names[len(c.names)-1].Waiters(), "taken", 0).Err())
	sub := client.PSubscribe(bg, "*")
	t.Cleanup(func() { _ = sub.Close() })
	_, err := sub.Receive(bg)
	require.NoError(t, err)
	return client, sub.Channel(redis.WithChannelSize(10_000))
}

// heard are the messages until now.
func heard(t *testing.T, client *redis.Client, messages <-chan *redis.Message) []string {
	t.Helper()
	require.NoError(t, client.Publish(bg, "end", "").Err())
	var all []string
	for m := range messages {
		if m.Channel == "end" {
			break
		}
		all = append(all, m.Channel+" "+m.Payload)
	}
	return all
}

// plain is a reply without what differs from server to server and from moment to moment.
func plain(reply any, err error) string {
	if err != nil {
		if lua.IsRestarted(err) {
			return "restarted"
		}
		text, _, _ := strings.Cut(err.Error(), " script: ")
		return text
	}
	if parts, ok := reply.([]any); ok && len(parts) >= 3 {
		if left, ok := parts[0].(int64); ok && left > 1000 {
			parts[0] = (left + 25_000) / 50_000
		}
	}
	if id, ok := reply.(string); ok && len(id) == 40 {
		reply = "a server"
	}
	return fmt.Sprint(reply)
}

// contents are what is in Redis, without dates.
func contents(t *testing.T, c *redis.Client) map[string]string {
	t.Helper()
	all := make(map[string]string)
	keys, err := c.Keys(bg, "*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		var is any
		switch kind := c.Type(bg, key).Val(); {
		case strings.HasSuffix(key, ":waiters") && kind == "hash":
			is = slices.Sorted(maps.Keys(c.HGetAll(bg, key).Val()))
		case strings.HasSuffix(key, ":void"):
			ids := c.ZRange(bg, key, 0, -1).Val()
			slices.Sort(ids)
			is = ids
		case kind == "hash":
			is = c.HGetAll(bg, key).Val()
		case kind == "zset":
			is = c.ZRangeWithScores(bg, key, 0, -1).Val()
		default:
			is = c.Get(bg, key).Val()
		}
		left := c.PTTL(bg, key).Val()
		all[key] = fmt.Sprint(is, " for ", (left + 25*time.Second).Truncate(50*time.Second))
	}
	return all
}

// A batch does what its calls do by themselves, in their order: the same replies, errors
// and messages, and the same keys in the end.
func TestABatchIsItsCallsInOrder(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			c := newCaller(t, seed)
			one, heardOne := server(t, c)
			other, heardOther := server(t, c)
			failed := 0
			for range 60 {
				calls := make([]lua.Call, 1+c.IntN(lua.MaxBatch))
				for i := range calls {
					calls[i] = c.call()
					require.True(t, calls[i].Batched())
				}
				reply, err := lua.Batch(calls).Run(bg, other)
				require.NoError(t, err)
				replies, err := lua.ParseBatch(reply, len(calls))
				require.NoError(t, err)
				for i, call := range calls {
					failure, _ := replies[i].(error)
					want := plain(call.Run(bg, one))
					require.Equal(t, want, plain(replies[i], failure), "call %d of %d, %s", i, len(calls), call.Script().Name)
					if failure != nil {
						failed++
					}
				}
			}
			require.Positive(t, failed, "some calls fail")
			require.Equal(t, heard(t, one, heardOne), heard(t, other, heardOther))
			require.Equal(t, contents(t, one), contents(t, other))
		})
	}
}

// What many calls have in common is sent once.
func TestABatchDoesNotRepeatArguments(t *testing.T) {
	var calls []lua.Call
	size := func(c lua.Call) int { return len(c.Cmd(bg).Args()) }
	alone := 0
	for i := range 10 {
		a := acquisition(t)
		a.Hold = fmt.Sprint("client:", i)
		calls = append(calls, a.Call())
		alone += size(a.Call())
	}
	require.Equal(t, 90, alone)
	require.Equal(t, 3+1+10*3+10+2, size(lua.Batch(calls)), "three keys and a hold id each, and one TTL and one retention")
}

// What a replica refuses is refused as a whole: that is how clients learn that they are
// connected to one.
func TestAReplicaRefusesABatch(t *testing.T) {
	client := redistest.Start(t).Client(t)
	require.NoError(t, client.Do(bg, "replicaof", "127.0.0.1", "1").Err())
	a := acquisition(t)
	_, err := lua.Batch([]lua.Call{lua.Server{Keys: a.Keys}.Call(), a.Call(), a.Call()}).Run(bg, client)
	require.ErrorContains(t, err, "READONLY")
	require.True(t, redis.IsReadOnlyError(err))
}

// A server that is full refuses a batch as a whole: what frees memory in it must not open
// the way for what takes some.
func TestAFullServerRefusesABatch(t *testing.T) {
	client := redistest.Start(t).Client(t)
	a := acquisition(t)
	_, err := a.Call().Run(bg, client)
	require.NoError(t, err)
	other := a
	other.Keys, err = lua.NewKeys("lock", "other")
	require.NoError(t, err)
	require.NoError(t, client.Set(bg, "filler", strings.Repeat("x", 1<<20), 0).Err())
	require.NoError(t, client.ConfigSet(bg, "maxmemory", "1mb").Err())
	_, err = lua.Batch([]lua.Call{lua.Release{Keys: a.Keys, Hold: a.Hold}.Call(), other.Call()}).Run(bg, client)
	require.True(t, redis.IsOOMError(err), err)
	require.EqualValues(t, 0, client.Exists(bg, other.Keys.Lock).Val())
	require.EqualValues(t, 1, client.Exists(bg, a.Keys.Lock).Val())
}

// A client that reads an error inside of a reply may take the rest of it for the replies to
// other commands. So failures come as values, whatever they are.
func TestFailuresInABatchLeaveTheConnectionInOrder(t *testing.T) {
	client := redistest.Start(t).Client(t, func(o *redis.Options) { o.PoolSize = 1 })
	a := acquisition(t)
	a.Guard = time.Hour
	for _, text := range []string{"READONLY", "OOM", "MOVED 1 127.0.0.1:1", "LOADING"} {
		require.NoError(t, client.Del(bg, a.Keys.Token()).Err())
		calls := []lua.Call{lua.Server{Keys: a.Keys}.Call(), a.Call(), a.Call(), lua.Release{Keys: a.Keys}.Call()}
		// Whatever the guard says is a failure of this kind.
		source := strings.ReplaceAll(lua.Batch(calls).Script().Source, "'RESTARTED '", "'"+text+" '")
		args := lua.Batch(calls).SourceCmd(bg).Args()
		args[1] = source
		cmd := lua.NewCmd(bg, args...)
		require.NoError(t, client.Process(bg, cmd))
		replies, err := lua.ParseBatch(cmd.Val(), len(calls))
		require.NoError(t, err)
		require.Len(t, replies[0], 40)
		for _, r := range replies[1:3] {
			var refusal redis.Error
			require.ErrorAs(t, r.(error), &refusal)
			require.True(t, strings.HasPrefix(refusal.Error(), text), refusal)
		}
		require.EqualValues(t, 0, replies[3])
		require.Equal(t, "pong", client.Do(bg, "ping", "pong").Val())
	}
}

// A long call is sent by itself.
func TestALongCallIsNoPartOfABatch(t *testing.T) {
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	beat := lua.FairBeat{Fair: lua.Fair{Keys: keys}, Holds: make([]string, 27)}
	require.True(t, beat.Call().Batched())
	beat.Holds = append(beat.Holds, "one more")
	require.False(t, beat.Call().Batched())
	require.False(t, lua.Probe{}.Call().Batched())
}

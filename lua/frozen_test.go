package lua_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	peers "github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lua"
)

// A frozen is a server whose clock stands still unless a test moves it: so that what a call
// changes can be seen, dates included. It keeps what is published on it.
type frozen struct {
	t      *testing.T
	memory *miniredis.Miniredis
	client *redis.Client
	uptime int // that it tells, seconds

	mu        sync.Mutex
	now       time.Time
	listeners map[string]int // to a channel, as PUBLISH counts them
	said      []string       // channel and message
}

func freeze(t *testing.T) *frozen {
	t.Helper()
	f := &frozen{t: t, memory: miniredis.RunT(t), now: time.Unix(1_000_000_000, 0), uptime: 86400, listeners: make(map[string]int)}
	f.memory.SetTime(f.now)
	f.memory.Server().SetPreHook(func(c *peers.Peer, name string, args ...string) bool {
		switch {
		case name == "INFO" && args[0] == "server":
			c.WriteBulk(fmt.Sprintf("# Server\r\nuptime_in_seconds:%d\r\n", f.uptime))
			return true
		case name != "PUBLISH":
			return false
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.said = append(f.said, args[0]+" "+args[1])
		c.WriteInt(f.listeners[args[0]])
		return true
	})
	f.client = redis.NewClient(&redis.Options{Addr: f.memory.Addr(), ReadTimeout: time.Minute}) // some scripts take seconds here
	t.Cleanup(func() { _ = f.client.Close() })
	return f
}

// pass lets so much time go by.
func (f *frozen) pass(d time.Duration) {
	f.now = f.now.Add(d)
	f.memory.SetTime(f.now)
	f.memory.FastForward(d)
}

// listen has somebody, as far as PUBLISH tells, listen to a channel.
func (f *frozen) listen(channel string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners[channel]++
}

// heard is what was published since it was last asked for.
func (f *frozen) heard() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := f.said
	f.said = nil
	return said
}

func (f *frozen) run(calls ...lua.Call) (last any) {
	f.t.Helper()
	for _, c := range calls {
		var err error
		last, err = c.Run(bg, f.client)
		require.NoError(f.t, err, c.Script().Name)
	}
	return last
}

// contents are all keys, with what is in them and how long they live.
func (f *frozen) contents() string {
	all := new(strings.Builder)
	for _, key := range f.memory.Keys() {
		fmt.Fprintln(all, key, f.memory.TTL(key))
	}
	all.WriteString(f.memory.Dump())
	return all.String()
}

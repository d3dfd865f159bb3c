package fair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// A node grants the lock to one who has no quorum for it, and hangs before the yield comes,
// for longer than a waiter without a sign of life is remembered. There is no other node to
// spare: were the grant to stand, nobody would get the lock for as long as both wait.
func TestNodeThatHangsBeforeAYieldTakesItAllTheSame(t *testing.T) {
	for _, n := range []int{2, 3} {
		r := newRig(t, n)
		const heartbeat = 200 * time.Millisecond
		client := func() (*lock.Client, []*redistest.Proxy) {
			var proxies []*redistest.Proxy
			var nodes []redis.UniversalClient
			for _, s := range r.servers {
				p := redistest.NewProxy(t, s.Addr())
				proxies, nodes = append(proxies, p), append(nodes, p.Client(t))
			}
			c, err := lock.NewClient(nodes, lock.WithWaiterHeartbeat(heartbeat), lock.WithTTL(time.Minute))
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			return c, proxies
		}
		first, fromFirst := client()
		second, fromSecond := client()
		if n == 3 {
			r.servers[2].Kill()
		}
		ctx, cancel := context.WithTimeout(bg, within)
		defer cancel()
		served := make(chan error, 2)
		lockOn := func(c *lock.Client) {
			lease, err := fair.New(c, r.name).Lock(ctx)
			if err == nil {
				err = lease.Unlock(bg)
			}
			served <- err
		}

		// The first waits on the second node, behind a ghost that has the lock there. Then the
		// second one is granted the lock on the first node.
		queue := lua.Fair{Keys: r.keys(), Channel: lua.ClientChannels("lock"), Life: heartbeat, Alone: true}
		ghost := lua.FairAcquire{Fair: queue, Hold: "ghost:1", TTL: time.Minute, Retention: time.Hour}
		_, err := ghost.Call().Run(bg, r.eyes[1])
		require.NoError(t, err)
		late := fromFirst[0].Hold(askCall, 100_000)
		go lockOn(first)
		redistest.Eventually(t, within, func() bool { return r.eyes[1].ZCard(bg, r.keys().Queue()).Val() == 1 }, "the first waits")
		yield := fromSecond[0].Hold(yieldCall, 1)
		go lockOn(second)
		yield.Wait(t)
		require.EqualValues(t, 1, r.eyes[0].Exists(bg, r.keys().Lock).Val())

		r.servers[0].Pause()
		require.NoError(t, r.eyes[1].Set(bg, "stall", "", 4*heartbeat).Err())
		yield.Release()
		late.Release()
		redistest.Eventually(t, within, func() bool { return r.eyes[1].Exists(bg, "stall").Val() == 0 }, "the stall is over")
		r.servers[0].Resume()
		_, err = lua.FairRelease{Fair: queue, Hold: ghost.Hold}.Call().Run(bg, r.eyes[1])
		require.NoError(t, err)
		require.NoError(t, <-served)
		require.NoError(t, <-served)
	}
}

// While its servers are stopped for longer than the TTL, callers give up one after the other.
// What they had sent waits in the sockets, and is executed when the servers go on: a grant to
// nobody, or a place in the queue.
func TestServersStoppedForLongerThanATTLKeepNothing(t *testing.T) {
	t.Parallel()
	for _, stopped := range []int{1, 2} {
		r := newRig(t, 2*stopped-1)
		c := r.client(t, lock.WithTTL(8*time.Second), lock.WithNodeTimeout(100*time.Millisecond))
		var expired []func() []string
		for _, s := range r.servers {
			expired = append(expired, s.Expirations(t))
		}
		stall, cancel := context.WithTimeout(bg, 10*time.Second)
		for _, s := range r.servers[:stopped] {
			s.Pause()
		}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(bg, time.Duration(i+1)*50*time.Millisecond)
				defer cancel()
				_, err := fair.New(c, fmt.Sprint("name ", i%25)).Lock(ctx)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("with so many servers stopped: %v", err)
				}
			})
		}
		wg.Wait()
		<-stall.Done()
		cancel()
		for _, s := range r.servers[:stopped] {
			s.Resume()
		}
		r.requireDrained(t)
		for _, expired := range expired {
			left := slices.DeleteFunc(expired(), func(key string) bool { return strings.HasSuffix(key, ":void") })
			require.Empty(t, left, "each key was removed, none was left to its TTL")
		}
	}
}

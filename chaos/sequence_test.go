package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// Sequences of events that are known to break locks, each played step by step.

// A stage is where a sequence is played: five servers, and two clients, each of which
// can be kept away from some of them.
type stage struct {
	nodes      []*node
	ways       [2][]*proxy
	alice, bob lock.Locker
}

// These leave room for a busy machine and a slow disk: what is played has to be over
// while the lease lasts, and a node that answers late counts as one that cannot be reached.
const (
	stageTTL         = 6 * time.Second
	stageNodeTimeout = time.Second
	stageGuard       = 8 * time.Second // at least the TTL
	stagePatience    = time.Minute     // with what must come sooner or later
)

func newStage(t *testing.T, d Disk, opts ...lock.ClientOption) *stage {
	redistest.Require(t)
	s := new(stage)
	dir, addr := scratchFor(t), ownAddr()
	for i := range 5 {
		n, err := newNode(filepath.Join(dir, fmt.Sprint(i)), d, "", address{})
		require.NoError(t, err)
		t.Cleanup(n.close)
		s.nodes = append(s.nodes, n)
		for c := range s.ways {
			p, err := newProxy(addr, n.socket())
			require.NoError(t, err)
			t.Cleanup(p.close)
			s.ways[c] = append(s.ways[c], p)
		}
	}
	s.alice, s.bob = s.client(t, 0, opts...), s.client(t, 1, opts...)
	return s
}

// client makes a client's lock.
func (s *stage) client(t *testing.T, number int, opts ...lock.ClientOption) lock.Locker {
	nodes := make([]redis.UniversalClient, len(s.nodes))
	for i, p := range s.ways[number] {
		c := redis.NewClient(&redis.Options{Addr: p.addr})
		t.Cleanup(func() { c.Close() })
		nodes[i] = c
	}
	locks, err := lock.NewClient(nodes, append([]lock.ClientOption{
		lock.WithTTL(stageTTL), lock.WithNodeTimeout(stageNodeTimeout),
	}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { locks.Close() })
	return reentrant.New(locks, "orders")
}

// away keeps a client from nodes: nothing gets there.
func (s *stage) away(client int, nodes ...int) {
	for _, i := range nodes {
		s.ways[client][i].shut()
	}
}

// crash is kill -9, and a restart at once.
func (s *stage) crash(t *testing.T, node int) {
	s.nodes[node].kill()
	require.NoError(t, s.nodes[node].start())
}

// play is the classic sequence. Alice has the lock from a bare majority, of which one
// node crashes and is back at once. Bob can reach that one and the two that never
// heard of alice.
func (s *stage) play(t *testing.T) *lock.Lease {
	s.away(0, 3, 4)
	ctx, cancel := context.WithTimeout(context.Background(), stagePatience)
	defer cancel()
	held, err := s.alice.Lock(ctx) // with a guard, fresh servers grant nothing for a while
	require.NoError(t, err)
	s.away(1, 0, 1)
	s.crash(t, 2)
	return held
}

func TestForgetfulNodeMakesTwoHolders(t *testing.T) {
	t.Parallel()
	s := newStage(t, Nothing, lock.WithTTL(stagePatience)) // she is not to ask the nodes meanwhile
	alices := s.play(t)
	ctx, cancel := context.WithTimeout(context.Background(), stagePatience)
	defer cancel()
	bobs, err := s.bob.Lock(ctx)
	require.NoError(t, err)
	require.NoError(t, bobs.Err())
	require.NoError(t, alices.Err(), "two holders: this is what the guard and the AOF are for")
}

func TestWithTheGuardThereIsOneHolder(t *testing.T) {
	t.Parallel()
	s := newStage(t, Nothing, lock.WithRestartGuard(stageGuard))
	alices := s.play(t)
	var bobs *lock.Lease
	var err error
	redistest.Eventually(t, stageGuard, func() bool { // a busy machine may leave a TryLock without an answer
		bobs, err = s.bob.TryLock(context.Background())
		return err == nil || errors.Is(err, redlock.ErrRestarted)
	}, "the nodes answer")
	require.Nil(t, bobs)
	require.ErrorIs(t, err, redlock.ErrRestarted)
	// Her lease rests on the nodes that remember it: it is lost no sooner than it ends without a renewal.
	ends := alices.Deadline()
	if err := alices.Err(); err != nil {
		require.False(t, time.Now().Before(ends), "%v", err)
	}
	requireOneAtATime(t, alices, s.bob)
}

func TestWithAppendfsyncAlwaysThereIsOneHolder(t *testing.T) {
	t.Parallel()
	// With each crash a renewal may fail, and by a short TTL the node would be right to forget.
	// Nor is a slow disk to keep a node from answering.
	s := newStage(t, Always, lock.WithTTL(stagePatience), lock.WithNodeTimeout(5*stageNodeTimeout))
	alices := s.play(t)
	for range 3 { // it is remembered in each life
		bobs, err := s.bob.TryLock(context.Background())
		require.Nil(t, bobs)
		require.Error(t, err)
		s.crash(t, 2)
	}
	require.NoError(t, alices.Err())
	require.NoError(t, alices.Unlock(context.Background()))
	ctx, cancel := context.WithTimeout(context.Background(), stagePatience)
	defer cancel()
	bobs, err := s.bob.Lock(ctx)
	require.NoError(t, err)
	require.Greater(t, bobs.Token(), alices.Token())
	require.NoError(t, bobs.Unlock(ctx))
}

// requireOneAtATime has another wait for the lock: when that one has it, the first
// must have seen its loss.
func requireOneAtATime(t *testing.T, first *lock.Lease, second lock.Locker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stagePatience)
	defer cancel()
	lease, err := second.Lock(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, first.Err(), lock.ErrLost)
	require.Greater(t, lease.Token(), first.Token())
	require.NoError(t, lease.Unlock(ctx))
}

// lateRig is a client of three real servers, whose requests can be kept back.
func lateRig(t *testing.T) ([]*redistest.Server, []*redistest.Proxy, lock.Locker) {
	servers := redistest.StartN(t, 3)
	var proxies []*redistest.Proxy
	var nodes []redis.UniversalClient
	for _, s := range servers {
		p := redistest.NewProxy(t, s.Addr())
		c := s.Client(t)
		for _, call := range []lua.Call{lua.Acquire{}.Call(), lua.Fence{}.Call()} {
			require.NoError(t, c.ScriptLoad(context.Background(), call.Script().Source).Err())
		}
		proxies = append(proxies, p)
		nodes = append(nodes, p.Client(t))
	}
	// Who waits for a node for longer than a lease lasts has to look at the clock.
	locks, err := lock.NewClient(nodes, lock.WithTTL(lateTTL), lock.WithNodeTimeout(10*time.Second))
	require.NoError(t, err)
	t.Cleanup(func() { locks.Close() })
	return servers, proxies, reentrant.New(locks, "orders")
}

const (
	lateTTL = 200 * time.Millisecond // much less than TryLock takes at the most
	// tooLate is what it comes to: on a busy machine, TryLock may be over by then, or the keys.
	// What is promised of that exactly, tests of package lock hold in virtual time.
	tooLate = "longer than the lock would have been valid|no quorum"
)

func TestTheClockIsReadAfterTheRound(t *testing.T) {
	t.Parallel()
	_, proxies, m := lateRig(t)
	var held []*redistest.Held
	for _, p := range proxies {
		held = append(held, p.Hold(redistest.Script(lua.Acquire{}.Call().Script().SHA), 1))
	}
	began := time.Now()
	failed := make(chan error, 1)
	go func() {
		lease, err := m.TryLock(context.Background())
		if lease != nil {
			err = fmt.Errorf("granted after %v", time.Since(began))
		}
		failed <- err
	}()
	for _, h := range held {
		h.Wait(t)
	}
	<-time.After(lateTTL) // the round had begun before its requests were kept back
	for _, h := range held {
		h.Release()
	}
	err := <-failed
	require.Error(t, err)
	require.Regexp(t, tooLate, err.Error())
}

func TestTheClockIsReadAfterTheRoundForTheToken(t *testing.T) {
	t.Parallel()
	servers, proxies, m := lateRig(t)
	keys, err := lua.NewKeys("lock", "orders")
	require.NoError(t, err)
	for i, s := range servers { // no two agree, so there is a second round
		require.NoError(t, s.Client(t).Set(context.Background(), keys.Token(), 10*i, 0).Err())
	}
	for _, p := range proxies { // each round alone is quick enough
		p.SetDelay(lateTTL * 2 / 3)
	}
	lease, err := m.TryLock(context.Background())
	require.Nil(t, lease)
	require.Error(t, err)
	require.Regexp(t, tooLate, err.Error())
}

package reentrant_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

// fault is what a network does to one command.
type fault struct {
	name     string
	strike   func(*redistest.Proxy, func([]string) bool) *redistest.Drop
	executed bool // the server runs the command
	answered bool // the client gets a reply
	prompt   bool // the client knows at once
}

var faults = []fault{
	{"its reply is lost", func(p *redistest.Proxy, m func([]string) bool) *redistest.Drop { return p.DropReply(m, 1) }, true, false, true},
	{"its reply never comes", func(p *redistest.Proxy, m func([]string) bool) *redistest.Drop { return p.SwallowReply(m, 1) }, true, false, false},
	{"it is lost", func(p *redistest.Proxy, m func([]string) bool) *redistest.Drop { return p.DropRequest(m, 1) }, false, false, true},
	{"it comes twice", func(p *redistest.Proxy, m func([]string) bool) *redistest.Drop { return p.Duplicate(m, 1) }, true, true, true},
}

// story is the life of a hold: taken, re-entered, extended, given back in two steps, of
// which the nodes are told three.
// One step meets a fault on the first of the nodes.
type story struct {
	step  string
	fault fault
	nodes int // how many nodes the fault strikes
}

var steps = map[string]func([]string) bool{
	"lock":   acquireCall,
	"extend": extendCall,
	"unlock": releaseCall,
}

func TestEachCommandSurvivesEachFault(t *testing.T) {
	for _, d := range []struct{ nodes, struck int }{{1, 1}, {5, 2}, {5, 5}} {
		t.Run(fmt.Sprintf("%d of %d nodes", d.struck, d.nodes), func(t *testing.T) {
			t.Parallel()
			// A fixed lease: no renewal gets in the way of the command that is struck.
			// What is not struck has its time on a busy machine.
			r := newRig(t, d.nodes, lock.WithoutWatchdog(), lock.WithNodeTimeout(3*time.Second))
			for _, f := range faults {
				for step := range steps {
					t.Run(step+", "+f.name, func(t *testing.T) {
						r.name = step + ", " + f.name
						story{step, f, d.struck}.play(t, r)
					})
				}
			}
		})
	}
}

func (s story) play(t *testing.T, r *rig) {
	m := r.mutex()
	// What is to be struck is not sent to a node that is not heard, or is behind.
	redistest.Eventually(t, within, func() bool {
		return !slices.ContainsFunc(r.locks.Health(bg), func(n lock.NodeHealth) bool { return !n.Votes })
	}, "each node answers")

	strike := s.at(r, "lock")
	lease, err := m.Lock(bg)
	strike(t)
	require.NoError(t, err)
	require.Equal(t, 1, lease.Count())
	if s.step == "lock" {
		s.requireCount(t, r, lease, 1)
	} else {
		r.requireCount(t, lease.ID(), 1)
	}

	inner, err := m.Lock(lease.Context(bg))
	require.NoError(t, err)
	require.Equal(t, 2, inner.Count())
	require.Equal(t, lease.Token(), inner.Token())

	strike = s.at(r, "extend")
	err = inner.Extend(bg, time.Minute)
	strike(t)
	if s.fatal(r, "extend") {
		// Nobody knows whether it was extended: the lease stays as it was, and is good.
		require.ErrorIs(t, err, redlock.ErrNoQuorum)
		require.NoError(t, inner.Err())
		require.Less(t, time.Until(inner.Deadline()), 30*time.Second)
		err = inner.Extend(bg, time.Minute)
	}
	require.NoError(t, err)
	require.Greater(t, time.Until(inner.Deadline()), 45*time.Second)
	s.requireCount(t, r, lease, 2)

	require.NoError(t, inner.Unlock(bg))
	require.NoError(t, lease.Err())
	_, err = try(t, m)
	require.ErrorIs(t, err, lock.ErrLocked, "one lease is left")

	strike = s.at(r, "unlock")
	err = lease.Unlock(bg)
	strike(t)
	if s.fatal(r, "unlock") {
		require.ErrorIs(t, err, redlock.ErrNoQuorum)
	} else {
		require.NoError(t, err)
	}
	r.requireClean(t)

	next, err := try(t, m)
	require.NoError(t, err)
	require.Greater(t, next.Token(), lease.Token())
	require.NoError(t, next.Unlock(bg))
	r.requireClean(t)
	if !s.fault.prompt {
		// A lane has four connections for the silent to use up. The next story is to
		// begin with none of them lost.
		for _, p := range r.proxies {
			p.Reset()
		}
	}
}

// at sets the fault up if it is for this step. What it returns checks that it struck.
func (s story) at(r *rig, step string) func(*testing.T) {
	if step != s.step {
		return func(*testing.T) {}
	}
	var drops []*redistest.Drop
	for _, p := range r.proxies[:s.nodes] {
		drops = append(drops, s.fault.strike(p, steps[step]))
	}
	return func(t *testing.T) {
		for _, d := range drops {
			d.Wait(t)
		}
	}
}

// fatal tells whether the step's ballot cannot be won.
func (s story) fatal(r *rig, step string) bool {
	return s.step == step && !s.fault.answered && len(r.servers)-s.nodes < r.quorum()
}

// requireCount checks the nodes' counts. A node that has lost a command, or with it a
// connection and what was queued behind, may be behind: it is the end that counts there,
// not the count.
func (s story) requireCount(t *testing.T, r *rig, l *lock.Lease, count int) {
	t.Helper()
	switch {
	case s.fault.executed && s.fault.prompt:
		r.requireCount(t, l.ID(), count)
	case s.nodes < r.quorum():
		var got []int
		redistest.Eventually(t, within, func() bool { // a quorum has answered, which need not be all of these
			got = r.counts(t, l.ID())[s.nodes:]
			return !slices.ContainsFunc(got, func(c int) bool { return c != count })
		}, "the others count %d, last seen: %v", count, &got)
	}
}

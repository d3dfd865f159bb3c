package lock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// ForceUnlock implements [Inspector]. It ends exactly the holds that it finds: if it runs twice, or
// late, it cannot end a later hold (I4).
func (e *engine) ForceUnlock(ctx context.Context) (bool, error) {
	s, err := e.Inspect(ctx)
	if err != nil {
		return false, fmt.Errorf("force unlock: %w", err)
	}
	holders := make(map[string]struct{}, 1)
	for _, n := range s.Nodes {
		if n.Holder != "" {
			holders[n.Holder] = struct{}{}
		}
		for _, id := range n.Readers {
			holders[id] = struct{}{}
		}
	}
	ended := false
	var failed error
	for holder := range holders {
		did, err := e.force(ctx, holder, s)
		ended, failed = ended || did, errors.Join(failed, err)
	}
	return ended, failed
}

// ForceUnlockHold is ForceUnlock for the hold called hold alone: the hold that was looked at, not a
// later one. If the goroutines of another process pass the lock on to each other, the nodes know
// only the first hold's id: ForceUnlockHold ends whichever hold is in progress.
func (e *engine) ForceUnlockHold(ctx context.Context, hold string) (bool, error) {
	if e.err != nil {
		return false, e.err
	}
	if hold == "" {
		return false, fmt.Errorf("force unlock %q: the hold id is empty", e.name)
	}
	if id, _, passed := strings.Cut(hold, "."); passed {
		if t := e.client.tenureOf(e.keys.Lock, id); t != nil && !t.holding(hold) {
			return false, nil // another goroutine has had it since
		}
		hold = id
	}
	s, err := e.Inspect(ctx)
	if err != nil {
		return false, fmt.Errorf("force unlock: %w", err)
	}
	return e.force(ctx, hold, s)
}

// force ends the hold called hold on all nodes, and reports whether somebody held the lock by it,
// or may have held it.
func (e *engine) force(ctx context.Context, hold string, s State) (ended bool, err error) {
	c, g := e.client, e.client.group
	fail := func(err error) (bool, error) { return ended, fmt.Errorf("force unlock %q: %w", e.name, err) }
	if err := c.enter(); err != nil {
		return fail(err)
	}
	defer c.leave()
	seen, undecided := s.votes(hold)
	relied := seen > 0 && seen+undecided >= g.Quorum()
	if relied {
		// The mark comes first, so that the holder that finds its hold gone learns why. A hold that
		// only a minority of nodes has needs no mark, and may be about to be granted.
		life := markLife
		for _, n := range s.Nodes {
			if n.has(hold) {
				life = max(life, n.TTL) // it is renewed before that, or over
			}
		}
		_, err := g.Decide(ctx, redlock.Motion{
			Name: "force unlock",
			Call: lua.Force{Keys: e.keys, Hold: hold, Life: life}.Call(),
			Yes:  lua.ParseForced,
			All:  true,
		})
		if err != nil {
			return fail(contextError(ctx))
		}
	}
	r := e.request(hold)
	release := e.kind.Release(r, false, 0)
	mutex := e.shared == nil && e.numbered == nil
	if mutex {
		release = lua.Release{Keys: r.Keys, Hold: hold}.Call()
	}
	// One that waits keeps its place, whatever a minority has granted it.
	waits := func(node int) bool { return !relied && slices.Contains(s.Nodes[node].Queue, hold) }
	end := redlock.Motion{
		Name: "force unlock",
		Call: release,
		Yes:  e.vacated,
		All:  true,
		Skip: waits,
	}
	b, err := g.Decide(ctx, end)
	if err != nil {
		return fail(contextError(ctx))
	}
	if mutex {
		// A reentrant and a fair lock of one name wait for each other, but not in the same way: who waits for the one has been told
		// by now, and here are those who stand in the queue of the other.
		wake := lua.FairRelease{Fair: lua.Fair{Keys: r.Keys, Channel: r.Channel, Alone: r.Alone}, Hold: hold, Again: true}
		end.Call, end.All = wake.Call(), false
		_ = g.Vote(end).Wait(ctx) // or they notice by themselves
	}
	found, silent := 0, 0
	for i := range g.Size() {
		switch a := b.Answer(i); {
		case waits(i):
		case a.Vote != redlock.Yes:
			silent++
		case e.had(a.Reply):
			found++
		}
	}
	ended = found > 0 && (relied || found+silent >= g.Quorum())
	// A holder in this process need not wait for its next renewal to learn of it.
	if t := c.tenureOf(e.keys.Lock, hold); t != nil {
		t.lose(ReasonForced)
		ended = ended || found > 0
	}
	if err := b.Err(); err != nil && silent > g.Size()-g.Quorum() {
		return fail(err)
	}
	return ended, nil
}

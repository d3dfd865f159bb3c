package redlock

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// gatherTime is the longest time that a command waits for those with which it will be sent. They
// are queued within microseconds. A call that first waits for something else is not waited for.
const gatherTime = time.Millisecond

// Together runs all calls at once, and returns when all have returned. The first ballot of each
// call is sent with those of the others, in the same pipelines, so that all of them cost one round
// trip. Without Together, the first ballot would be sent alone, and on a near node the others would
// wait until it is back.
func Together(ctx context.Context, calls ...func(context.Context)) {
	if len(calls) == 0 {
		return
	}
	last := len(calls) - 1
	if last == 0 {
		calls[0](ctx)
		return
	}
	g := &gathering{missing: len(calls), queued: make([]*Ballot, 0, len(calls))}
	var others sync.WaitGroup
	for _, call := range calls[:last] {
		others.Go(func() { g.run(ctx, call) })
	}
	defer others.Wait()
	g.run(ctx, calls[last])
}

// A gathering is a set of calls whose first ballots are sent together.
type gathering struct {
	mu      sync.Mutex
	missing int       // calls that have neither queued a ballot nor returned
	queued  []*Ballot // by the members that have come
}

// A member is one call of a gathering. Its context carries it.
type member struct {
	gathering *gathering
	came      atomic.Bool
}

type memberKey struct{}

func (g *gathering) run(ctx context.Context, call func(context.Context)) {
	m := &member{gathering: g}
	defer m.leave()
	call(context.WithValue(ctx, memberKey{}, m))
}

// gathers returns the member whose first ballot will be sent under ctx; nil: there is none.
func gathers(ctx context.Context) *member {
	if m, _ := ctx.Value(memberKey{}).(*member); m != nil && !m.came.Load() {
		return m
	}
	return nil
}

// come records that the member need not be waited for any more, and its queued ballots. It returns
// all queued ballots if all members have come.
func (m *member) come(ballots ...*Ballot) (all []*Ballot) {
	if m.came.Swap(true) {
		return nil
	}
	g := m.gathering
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queued = append(g.queued, ballots...)
	if g.missing--; g.missing > 0 {
		return nil
	}
	all, g.queued = g.queued, nil // a lease keeps the context, and with it g
	return all
}

// leave is for a member that may have asked no node: if the others have waited for it, their
// ballots are sent now.
func (m *member) leave() {
	for _, l := range lanesOf(m.come()) {
		l.flush()
	}
}

// send sends queued ballots: with those of the others if this is the last member; otherwise the
// last member sends them. It returns when they are decided, or have been sent.
func (m *member) send(ctx context.Context, ballots ...*Ballot) {
	if all := m.come(ballots...); all != nil {
		leave(ctx, all)
		return
	}
	decided := ballots[len(ballots)-1].decision()
	if decided == nil {
		return
	}
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-decided:
		return
	case <-timer.C:
	case <-ctx.Done():
	}
	leave(ctx, ballots) // the others come too late
}

// SendTogether is [Ballot.Send] for several prepared ballots. A caller that has them one after the
// other anyway needs no goroutine for each, as it would for [Together].
func SendTogether(ctx context.Context, ballots ...*Ballot) {
	if len(ballots) == 0 {
		return
	}
	if m := gathers(ctx); m != nil {
		m.send(ctx, ballots...)
		return
	}
	leave(ctx, ballots)
}

// leave sends the ballots that have not been sent: those for one node on the caller's goroutine, if
// possible.
func leave(ctx context.Context, ballots []*Ballot) {
	lanes := lanesOf(ballots)
	if len(lanes) == 1 && lanes[0].runHere(ctx, nil) == ran {
		return
	}
	for _, l := range lanes {
		l.flush()
	}
}

// lanesOf returns the lanes of ballots, each of them once.
func lanesOf(ballots []*Ballot) (lanes []*lane) {
	for _, b := range ballots {
		for i := range b.ops {
			if l := b.ops[i].lane; !slices.Contains(lanes, l) {
				lanes = append(lanes, l)
			}
		}
	}
	return lanes
}

package redlock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// gatherTime bounds how long a command waits for those that it is to leave with. They are
// queued within microseconds; whoever waits for something else first is not waited for.
const gatherTime = time.Millisecond

// Together runs all calls at once, and returns when all have. The first ballot of each leaves
// with those of the others, in the same pipelines, so that all of them cost one round
// trip. By themselves, the first would leave alone, and to a near node the others would leave
// when it is back.
func Together(ctx context.Context, calls ...func(context.Context)) {
	if len(calls) == 0 {
		return
	}
	last := len(calls) - 1
	if last == 0 {
		calls[0](ctx)
		return
	}
	g := &gathering{complete: make(chan struct{})}
	g.missing.Store(int64(len(calls)))
	var others sync.WaitGroup
	for _, call := range calls[:last] {
		others.Go(func() { g.run(ctx, call) })
	}
	defer others.Wait()
	g.run(ctx, calls[last])
}

// A gathering is calls whose first ballots leave together.
type gathering struct {
	missing  atomic.Int64  // calls that have neither queued a ballot nor returned
	complete chan struct{} // closed when missing is zero
}

// A member is one call of a gathering. Its context carries it.
type member struct {
	gathering *gathering
	came      atomic.Bool
}

type memberKey struct{}

func (g *gathering) run(ctx context.Context, call func(context.Context)) {
	m := &member{gathering: g}
	defer m.come() // it may have asked no node
	call(context.WithValue(ctx, memberKey{}, m))
}

// gathers returns the member whose first ballot is to be sent under ctx; nil: it is nobody's.
func gathers(ctx context.Context) *member {
	if m, _ := ctx.Value(memberKey{}).(*member); m != nil && !m.came.Load() {
		return m
	}
	return nil
}

// come notes that the member need not be waited for any more. It tells whether all have come.
func (m *member) come() bool {
	if m.came.Swap(true) || m.gathering.missing.Add(-1) > 0 {
		return false
	}
	close(m.gathering.complete)
	return true
}

// gather waits for the others, for a moment.
func (m *member) gather(ctx context.Context) {
	if m.come() {
		return
	}
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-m.gathering.complete:
	case <-timer.C:
	case <-ctx.Done():
	}
}

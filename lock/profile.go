package lock

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
)

// While an execution trace is recorded (runtime/trace), an acquisition is a region of it, and so is
// the work of Do; each hold is a task, because another goroutine may call its Unlock. Goroutines
// that sleep until their turn, and the work of Do, also carry pprof labels: holdfast=wait or hold,
// and lock=the name. At other times all of this costs one check.

const (
	waiting = "holdfast.wait"
	holding = "holdfast.hold"
)

func labels(what, name string) pprof.LabelSet { return pprof.Labels("holdfast", what, "lock", name) }

// label sets labels on this goroutine until the result is called. Goroutines started meanwhile
// would keep them for good.
func (c *call) label() (end func()) {
	pprof.SetGoroutineLabels(pprof.WithLabels(c.ctx, labels("wait", c.engine.name)))
	return func() { pprof.SetGoroutineLabels(c.ctx) }
}

func (s *tasks) begin(ctx context.Context, h *hold) {
	ctx, task := trace.NewTask(ctx, holding)
	trace.Logf(ctx, "lock", "%s, hold %s, token %d", h.by.name, h.name(), h.token)
	s.n.Add(1)
	s.of.Store(h, task)
	if h.isOver() {
		s.end(h)
	}
}

func (s *tasks) end(h *hold) {
	if s.n.Load() == 0 {
		return
	}
	if task, ok := s.of.LoadAndDelete(h); ok {
		s.n.Add(-1)
		task.(*trace.Task).End()
	}
}

package lock

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/redlock"
)

// maxNews bounds what waits to be told to a slow observer of what may be left out. Ends of holds
// may not: who counts holds would be wrong for ever.
const maxNews = 10000

// An audience is the observers of a client. What happens on the client's own goroutines is told
// on another one, while there is any: an observer may block, and neither a loss nor a renewal, nor a
// node's lane, must wait for it (I2).
type audience struct {
	observers []Observer
	journal   *journal
	nodes     []string // their addresses; set before there is anything to tell

	mu       sync.Mutex
	contexts map[*hold]context.Context // that the hold's acquisition has come to, while it is in progress
	busy     bool
	news     []news
	most     int           // of them, apart from ends
	dropped  int           // for want of room
	idle     chan struct{} // closed when all is told; nil: nobody waits for that
	panicked bool          // the log says so
}

// news is what one observer after the other is told: one of these.
type news struct {
	ctx     context.Context
	ended   *HoldEnd
	renewed *Renewal
	answer  NodeAnswer
}

// newAudience is nil without observers.
func newAudience(observers []Observer, j *journal) *audience {
	if len(observers) == 0 {
		return nil
	}
	return &audience{observers: observers, journal: j, most: maxNews, contexts: make(map[*hold]context.Context)}
}

// watch runs an acquisition before the eyes of the observers.
func (s *audience) watch(a *acquisition, block bool) (*Lease, error) {
	began := Acquisition{LockKind: a.engine.about(), Name: a.engine.name, Try: !block, Start: a.began}
	ctx := a.ctx
	s.each(func(o *Observer) {
		if o.Began != nil {
			if made := o.Began(ctx, began); made != nil {
				ctx = made
			}
		}
	})
	a.waits = func() {
		s.each(func(o *Observer) {
			if o.Waits != nil {
				o.Waits(ctx, began)
			}
		})
	}
	l, err := a.run(block)
	ended := began
	ended.Waited, ended.Contended, ended.Lease, ended.Err = time.Since(a.began), a.contended, l, err
	if l != nil {
		ended.Handover = a.handover
	}
	s.each(func(o *Observer) {
		if o.Ended != nil {
			o.Ended(ctx, ended)
		}
	})
	if l != nil && a.handover != HandoverReentry {
		s.follow(ctx, l.hold)
	}
	return l, err
}

// follow has the observers told of the end of h. If that has come already, they are told here: the client may be
// closed by now, and wait for no other goroutine.
func (s *audience) follow(ctx context.Context, h *hold) {
	s.mu.Lock()
	s.contexts[h] = ctx
	s.mu.Unlock()
	if h.isOver() {
		h.mu.Lock()
		reason := h.reason
		h.mu.Unlock()
		s.over(h, reason)
	}
}

// leave returns what the context of h has come to. Whoever gets it tells of the end of h; nil: somebody
// else does, or nobody has been told of h.
func (s *audience) leave(h *hold) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx := s.contexts[h]
	delete(s.contexts, h)
	return ctx
}

// report is what is told of the end of h, for reason.
func (h *hold) report(reason Reason) HoldEnd {
	e := h.engine
	if h.by != nil {
		e = h.by
	}
	return HoldEnd{
		LockKind: e.about(), Name: h.engine.name, Hold: h.name(), Token: h.token,
		Held: time.Since(h.began), Reason: reason,
	}
}

// over tells, on this goroutine, that h has ended.
func (s *audience) over(h *hold, reason Reason) {
	if s == nil {
		return
	}
	if ctx := s.leave(h); ctx != nil {
		end := h.report(reason)
		s.each(func(o *Observer) { o.tell(news{ctx: ctx, ended: &end}) })
	}
}

// lost has told that h has ended.
func (s *audience) lost(h *hold, reason Reason) {
	if s == nil {
		return
	}
	if ctx := s.leave(h); ctx != nil {
		end := h.report(reason)
		s.have(news{ctx: ctx, ended: &end})
	}
}

// renewed has told that a round of renewals is decided, when the validity ended in so much.
func (s *audience) renewed(t *tenure, b *redlock.Ballot, left time.Duration, confirmed bool) {
	if s == nil {
		return
	}
	r := &Renewal{
		LockKind: t.engine.about(), Name: t.engine.name, Hold: t.id,
		Took: time.Since(b.Start()), Left: left, Confirmed: confirmed,
		Nodes: make([]NodeAnswer, len(s.nodes)),
	}
	for i := range r.Nodes {
		r.Nodes[i] = s.answer(i, b.Command(), b.Answer(i))
	}
	s.have(news{renewed: r})
}

// listener is called with what nodes answer; nil: nobody needs to know.
func (s *audience) listener() func(node int, motion string, took time.Duration, a redlock.Answer) {
	if s == nil {
		return nil
	}
	return func(node int, motion string, took time.Duration, a redlock.Answer) {
		n := s.answer(node, motion, a)
		n.Took = took
		s.have(news{answer: n})
	}
}

func (s *audience) answer(node int, command string, a redlock.Answer) NodeAnswer {
	n := NodeAnswer{Node: s.nodes[node], Command: command, Err: a.Err}
	switch {
	case a.Vote == redlock.Pending:
		n.Outcome = "late"
	case errors.Is(a.Err, redlock.ErrSilent):
		n.Outcome = "timeout"
	case errors.Is(a.Err, errFree):
		n.Outcome, n.Err = "no", nil // it is no error of the node
	case a.Err != nil:
		n.Outcome = "error"
	case a.Vote == redlock.Yes:
		n.Outcome = "yes"
	default:
		n.Outcome = "no"
	}
	return n
}

// have has n told, soon.
func (s *audience) have(n news) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.ended == nil && len(s.news) >= s.most {
		s.dropped++
		return
	}
	s.news = append(s.news, n)
	if !s.busy {
		s.busy = true
		go s.deliver()
	}
}

// deliver tells the news until there is none left.
func (s *audience) deliver() {
	var all []news
	defer func() {
		if len(all) > 0 { // an observer has ended the goroutine, as a test does that fails
			s.mu.Lock()
			s.news = append(all[1:], s.news...)
			s.mu.Unlock()
			go s.deliver()
		}
	}()
	for {
		s.mu.Lock()
		dropped := s.dropped
		all, s.news, s.dropped = s.news, nil, 0
		s.busy = len(all) > 0
		if !s.busy && s.idle != nil {
			close(s.idle)
			s.idle = nil
		}
		s.mu.Unlock()
		if dropped > 0 {
			s.journal.Warn("lock: more has happened than an observer could follow", "left out", dropped)
		}
		if len(all) == 0 {
			return
		}
		for ; len(all) > 0; all = all[1:] {
			s.each(func(o *Observer) { o.tell(all[0]) })
		}
	}
}

// close waits until everything is told, for so long at the most.
func (s *audience) close(most time.Duration) {
	if s == nil {
		return
	}
	s.mu.Lock()
	if !s.busy {
		s.mu.Unlock()
		return
	}
	s.idle = make(chan struct{})
	idle := s.idle
	s.mu.Unlock()
	await(most, idle)
}

// each has every observer told something. One that panics does no harm to the others, nor to us.
func (s *audience) each(tell func(*Observer)) {
	for i := range s.observers {
		s.guard(func() { tell(&s.observers[i]) })
	}
}

func (s *audience) guard(tell func()) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		s.mu.Lock()
		said := s.panicked
		s.panicked = true
		s.mu.Unlock()
		if !said {
			s.journal.Error("lock: an observer has panicked; this is said once", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	tell()
}

// tell calls what o has for n.
func (o *Observer) tell(n news) {
	switch {
	case n.ended != nil:
		if o.HoldEnded != nil {
			o.HoldEnded(n.ctx, *n.ended)
		}
	case n.renewed != nil:
		if o.Renewed != nil {
			o.Renewed(*n.renewed)
		}
	case o.Answered != nil:
		o.Answered(n.answer)
	}
}

// about is what observers are told of the lock's kind.
func (e *engine) about() LockKind {
	k := LockKind{Kind: "reentrant"}
	switch e.kind.Family() {
	case kind.ReadWrite:
		k = LockKind{Kind: "readwrite", Mode: "write"}
		if e.reads() {
			k.Mode = "read"
		}
	case kind.Semaphore:
		k.Kind = "semaphore"
	default:
		if e.order == queued {
			k.Kind = "fair"
		}
	}
	return k
}

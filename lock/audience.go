package lock

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

const (
	// maxNews bounds the optional news that wait for a slow observer. The ends of holds are not
	// optional: an observer that counts holds would be wrong forever.
	maxNews = 10000
	// maxSpare bounds the buffer that is kept while there is no news.
	maxSpare = 64
)

// newAudience returns nil if no observer has any function.
func newAudience(observers []Observer, j *journal) *audience {
	s := &audience{journal: j, most: maxNews}
	for _, o := range observers {
		s.began = with(s.began, o.Began, o.Began != nil)
		s.waits = with(s.waits, o.Waits, o.Waits != nil)
		s.ended = with(s.ended, o.Ended, o.Ended != nil)
		s.holdEnded = with(s.holdEnded, o.HoldEnded, o.HoldEnded != nil)
		s.renewed = with(s.renewed, o.Renewed, o.Renewed != nil)
		s.answered = with(s.answered, o.Answered, o.Answered != nil)
	}
	if len(s.began)+len(s.waits)+len(s.ended)+len(s.holdEnded)+len(s.renewed)+len(s.answered) == 0 {
		return nil
	}
	return s
}

func with[F any](all []F, f F, wanted bool) []F {
	if wanted {
		return append(all, f)
	}
	return all
}

// begin reports the beginning of a.
func (s *audience) begin(a *call) {
	a.observed = a.ctx
	for _, f := range s.began {
		a.observed = s.tellBegan(a.observed, f, a.about())
	}
}

// end reports the result of a, whose beginning has been reported.
func (s *audience) end(a *call, l *Lease, err error) {
	if len(s.ended) > 0 {
		ended := a.about()
		ended.Waited, ended.Contended, ended.Lease, ended.Err = time.Since(a.began), a.contended, l, err
		if l != nil {
			ended.Handover = a.handover
		}
		for _, f := range s.ended {
			tell(a.observed, s, f, ended)
		}
	}
	if l != nil && a.handover != HandoverReentry {
		s.follow(a.observed, l.hold)
	}
}

// waiting reports that a has to wait.
func (s *audience) waiting(a *call) {
	for _, f := range s.waits {
		tell(a.observed, s, f, a.about())
	}
}

// follow makes sure that the observers are told once of the end of h. The code that ends h first
// marks it as over and then looks for the context. follow leaves the context only if h is not over.
// If h is over, the observers are told here, because the client may be closed by now and wait for
// no other goroutine.
func (s *audience) follow(ctx context.Context, h *hold) {
	if len(s.holdEnded) == 0 {
		return
	}
	h.mu.Lock()
	over, reason := h.over != nil, h.reason
	if !over {
		h.observed = ctx
	}
	h.mu.Unlock()
	if over {
		s.tellOver(ctx, h, reason)
	}
}

// leave returns the context of h, which is over. The caller that gets it reports the end of h; nil:
// another caller does, or there is no observer.
func (s *audience) leave(h *hold) context.Context {
	if s == nil || len(s.holdEnded) == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx := h.observed
	h.observed = nil
	return ctx
}

// over reports, on this goroutine, that h has ended.
func (s *audience) over(h *hold, reason Reason) {
	if ctx := s.leave(h); ctx != nil {
		s.tellOver(ctx, h, reason)
	}
}

func (s *audience) tellOver(ctx context.Context, h *hold, reason Reason) {
	end := h.report(reason)
	for _, f := range s.holdEnded {
		tell(ctx, s, f, end)
	}
}

// lost queues the report that h has ended.
func (s *audience) lost(h *hold, reason Reason) {
	if ctx := s.leave(h); ctx != nil {
		end := h.report(reason)
		s.have(news{ctx: ctx, ended: &end})
	}
}

// decided queues the report that a round of renewals is decided. left is the validity left, and ttl
// the TTL.
func (s *audience) decided(t *tenure, b *redlock.Ballot, left, ttl time.Duration, confirmed bool) {
	if s == nil || len(s.renewed) == 0 {
		return
	}
	r := &Renewal{
		LockKind: t.engine.about(), Name: t.engine.name, Hold: t.id,
		Took: time.Since(b.Start()), Left: left, TTL: ttl, Confirmed: confirmed,
		Nodes: make([]NodeAnswer, len(s.nodes)),
	}
	for i := range r.Nodes {
		r.Nodes[i] = s.answer(i, b.Command(), b.Answer(i))
	}
	s.have(news{renewed: r})
}

// listener returns the function for the nodes' answers; nil: no observer wants them.
func (s *audience) listener() func(node int, motion string, took time.Duration, a redlock.Answer) {
	if s == nil || len(s.answered) == 0 {
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
	case a.Vote == redlock.Yes:
		n.Outcome = "yes"
	case a.Err == nil:
		n.Outcome = "no"
	case errors.Is(a.Err, redlock.ErrSilent):
		n.Outcome = "timeout"
	case errors.Is(a.Err, errFree):
		n.Outcome, n.Err = "no", nil // it is no error of the node
	default:
		n.Outcome = "error"
	}
	return n
}

// have queues n.
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

// deliver reports the news until there is none left. Delivered news make room for new ones.
func (s *audience) deliver() {
	var all []news
	told := 0
	defer func() {
		if told < len(all) { // an observer has ended the goroutine, as a test does that fails
			s.mu.Lock()
			s.news = append(all[told+1:], s.news...)
			s.mu.Unlock()
			go s.deliver()
		}
	}()
	for {
		s.mu.Lock()
		dropped := s.dropped
		if 0 < cap(all) && cap(all) <= maxSpare {
			s.spare = all[:0]
		}
		all, told, s.dropped = nil, 0, 0
		if s.busy = len(s.news) > 0; s.busy {
			all, s.news, s.spare = s.news, s.spare, nil
		}
		if !s.busy && s.idle != nil {
			close(s.idle)
			s.idle = nil
		}
		s.mu.Unlock()
		if dropped > 0 {
			s.journal.Warn("lock: an observer is too slow: some events were not reported to it", "left out", dropped)
		}
		if len(all) == 0 {
			return
		}
		for ; told < len(all); told++ {
			s.tell(&all[told])
		}
		clear(all)
	}
}

// close waits until everything is reported, for at most this long.
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

// tell reports one piece of news to the observers.
func (s *audience) tell(n *news) {
	switch {
	case n.ended != nil:
		for _, f := range s.holdEnded {
			tell(n.ctx, s, f, *n.ended)
		}
	case n.renewed != nil:
		for _, f := range s.renewed {
			s.tellRenewed(f, *n.renewed)
		}
	default:
		for _, f := range s.answered {
			s.tellAnswered(f, n.answer)
		}
	}
}

// An observer that panics harms neither the others nor the library.

func tell[T any](ctx context.Context, s *audience, f func(context.Context, T), about T) {
	defer s.recovered()
	f(ctx, about)
}

func (s *audience) tellBegan(ctx context.Context, f func(context.Context, Acquisition) context.Context, a Acquisition) (made context.Context) {
	defer s.recovered()
	made = ctx
	if c := f(ctx, a); c != nil {
		made = c
	}
	return made
}

func (s *audience) tellRenewed(f func(Renewal), r Renewal) {
	defer s.recovered()
	f(r)
}

func (s *audience) tellAnswered(f func(NodeAnswer), a NodeAnswer) {
	defer s.recovered()
	f(a)
}

// recovered is deferred around each call of an observer.
func (s *audience) recovered() {
	p := recover()
	if p == nil {
		return
	}
	s.mu.Lock()
	said := s.panicked
	s.panicked = true
	s.mu.Unlock()
	if !said {
		s.journal.Error("lock: an observer has panicked; further panics are not logged", "panic", p, "stack", string(debug.Stack()))
	}
}

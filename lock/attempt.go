package lock

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// attempt tries once to take the lock for a new tenure. Without a lease, the denial or the error
// says why; then everything that was granted has been given back.
func (e *engine) attempt(ctx context.Context, s *slot, p *place) (*Lease, *denial, error) {
	t := e.newTenure(s)
	b := t.draftClaim(p.tried(), p.hurries())
	p.asking(b)
	return t.conclude(ctx, b, b.Decide(ctx), p)
}

// try is attempt for a TryLock, which has a bound.
func (e *engine) try(ctx context.Context, s *slot) (*Lease, *denial, error) {
	t := e.newTenure(s)
	t.brief = true
	b := t.draftClaim(true, false)
	return t.conclude(ctx, b, b.Decide(ctx), nil)
}

// draftClaim drafts the ballot on t's claim. Its own function keeps a motion off the stack of a caller
// that waits, of which there may be very many.
func (t *tenure) draftClaim(noted, hurried bool) *redlock.Ballot {
	return t.engine.client.group.Draft(t.claim(noted, hurried))
}

// claim is the motion to give t the lock. If noted, a refusal includes the holder's label and note;
// a first attempt by a caller that will wait does not need them. If hurried, it does not wait for nodes that are far.
func (t *tenure) claim(noted, hurried bool) redlock.Motion {
	r := t.request()
	r.Noted = noted
	m := redlock.Motion{
		Name:      "acquire",
		Call:      t.engine.kind.Acquire(r),
		Yes:       t.engine.granted,
		Creates:   true,
		Footprint: t.footprint,
		Alike:     t.engine.alike(),
		Urgent:    true,
		Near:      hurried,
		Unsent:    patience(t.ttl), // among tens of thousands who try at once
	}
	if t.engine.client.group.Size() > 1 {
		m.Each, m.Missed = t.voted, t.missed
	}
	return m
}

// conclude turns the outcome of a claim into a lease: its ballot, or the end of the wait for it by
// err.
func (t *tenure) conclude(ctx context.Context, b *redlock.Ballot, err error, p *place) (*Lease, *denial, error) {
	if err != nil {
		d := t.engine.cutOff(b)
		t.giveBack(true) // a quorum may have granted it
		return nil, d, contextError(ctx)
	}
	if !b.Won() {
		d := t.engine.denied(b)
		t.giveBack(false)
		if ctx.Err() == nil {
			return nil, d, nil
		}
		if d.err != nil { // nodes that could not answer in time are not to blame
			d = t.engine.cutOff(b)
		}
		return nil, d, contextError(ctx)
	}
	l, d, err := t.grant(ctx, b, p, patience(t.ttl))
	if l == nil {
		t.giveBack(true)
	}
	return l, d, err
}

// grant makes a lease of a ballot that a quorum has granted, if the lease can still be relied on.
// Otherwise the caller must give back what was granted. unsent limits how long a second round may
// wait to be sent.
func (t *tenure) grant(ctx context.Context, b *redlock.Ballot, p *place, unsent time.Duration) (*Lease, *denial, error) {
	c, answered := t.engine.client, time.Now()
	t.number(b)
	second, won, err := t.fence(ctx, b, unsent)
	if err != nil {
		return nil, t.engine.cutOff(second), contextError(ctx)
	}
	if ctx.Err() != nil {
		// Cancellation that races a grant gives the grant back.
		return nil, &denial{cut: errTooLate}, contextError(ctx)
	}
	gone := c.usurped(t, p)
	validity := c.group.Validity(b.Start(), t.ttl)
	// The clock is read after the last round: an attempt that took too long has
	// nothing to rely on, whatever the nodes said (traps 2 to 4). It looks the same to a paused
	// process as answers that came too late, and the next attempt may succeed: an ErrNoQuorum.
	t.granted = time.Now()
	if won == nil && !t.granted.Before(validity) {
		won = fmt.Errorf("%w in time: the attempt took longer than the lock would have been valid: %v", ErrNoQuorum, t.ttl)
	}
	if won != nil {
		return nil, &denial{err: won}, nil
	}
	// The hold is not known to anyone else yet, so none of this needs a mutex.
	h := &t.first
	l := h.lease(t.engine, b.Start(), validity)
	h.began = b.Start()
	t.begin(h)
	t.holds = 1
	t.validity = validity
	joins := t.joins() // which may change once others know it
	if joins {
		t.joining = t.opens(b, answered)
	}
	t.serving = t.serves(b, answered)
	if d, err := c.won(t, p, gone, b); d != nil {
		return nil, d, err
	}
	if joins {
		c.listen(t.keys().Lock) // for waiting writers
	}
	t.watch(b.Start())
	t.align()
	t.remain()
	if t.describes() {
		t.write()
	}
	return l, nothing, nil
}

// fence settles the hold's token: the greatest that the granting quorum returned. A quorum must
// know it before anybody may see it (I3, design: tokens). fence returns lost if the second round
// found no quorum, and err if ctx ended.
//
// Why it is right: a later hold's quorum shares a node with the quorum that knows T. That node
// learned T while this hold had the key there, that is, before the later hold could take it, and
// gave the later hold more than T.
func (t *tenure) fence(ctx context.Context, b *redlock.Ballot, unsent time.Duration) (second *redlock.Ballot, lost, err error) {
	token, agree := t.minted(b)
	if t.engine.numbered != nil {
		return t.fenceAlone(ctx, token, agree, unsent)
	}
	t.first.token, t.reserve = token, reserve{last: token, top: token}
	if agree >= t.engine.client.group.Quorum() {
		return nil, nil, nil
	}
	return t.confirmToken(ctx, token, unsent)
}

// confirmToken is the second round of fence: a quorum learns the token.
func (t *tenure) confirmToken(ctx context.Context, token int64, unsent time.Duration) (second *redlock.Ballot, lost, err error) {
	second, err = t.engine.client.group.Decide(ctx, redlock.Motion{
		Name: "fence",
		Call: lua.Fence{
			Keys:      t.keys(),
			Hold:      t.id,
			Token:     token,
			Retention: t.engine.client.retention,
			Round:     t.round,
			Guard:     t.engine.client.guard,
		}.Call(),
		Yes:    lua.ParseFenced,
		Urgent: true,
		Unsent: unsent,
	})
	if err != nil {
		return second, nil, err
	}
	return second, second.Err(), nil
}

// minted returns the greatest token that a node gave, and how many nodes gave it.
func (t *tenure) minted(b *redlock.Ballot) (token int64, agree int) {
	slots := t.numbers()
	for i := range t.engine.client.group.Size() {
		a := b.Answer(i)
		if a.Vote != redlock.Yes {
			continue
		}
		granted, _ := t.engine.kind.Acquired(a.Reply)
		if granted.Token > token {
			token, agree = granted.Token, 0
		}
		if granted.Token == token && granted.Slots == slots {
			agree++
		}
	}
	return token, agree
}

// giveBack ends a hold that was not, or only partly, granted. seen says that others may have seen
// it as a holder, so that its end should wake them.
func (t *tenure) giveBack(seen bool) {
	g := t.engine.client.group
	granted := t.footprint.Present()
	b := t.vacate(!seen)
	if granted {
		// Not on a cancelled context: it would leave a quorum of keys behind (trap 9).
		// The wait is short: each ballot is decided within the node timeout.
		patience := g.NodeTimeout()
		if t.brief {
			patience = tryPatience(patience)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = b.Wait(ctx)
	}
}

// usurped returns why those tenures of this process are gone that exclude t, which a quorum has granted. A node
// may have said so with a message; who waits in a queue hears of an end, and not of whose, so the nodes are
// asked. Nobody knows of t yet, and the others are lost when t begins. One that has ended by itself is none of them: t's
// request came right behind its release, whose outcome is told at the same time.
func (c *core) usurped(t *tenure, p *place) map[*tenure]Reason {
	c.mu.Lock()
	var ct *contest
	if p != nil {
		ct = p.contest
	} else {
		ct = c.contests[t.engine.contest()]
	}
	var gone map[*tenure]Reason
	if ct != nil {
		for _, before := range ct.without(t) {
			before.mu.Lock()
			ended := before.ended
			before.mu.Unlock()
			if ended {
				continue
			}
			if gone == nil {
				gone = make(map[*tenure]Reason)
			}
			gone[before] = ReasonGone
			if ct.forced == before.id {
				gone[before] = ReasonForced
			}
		}
	}
	c.mu.Unlock()
	for before, reason := range gone {
		if reason == ReasonGone {
			gone[before], _ = before.askWhyGone()
		}
	}
	return gone
}

// won lets t begin, which b has granted, and ends p's wait if there was one. Unless t begins, d says why not: the client is
// closed or about to be, or the call reenters.
func (c *core) won(t *tenure, p *place, gone map[*tenure]Reason, b *redlock.Ballot) (d *denial, err error) {
	deaf, far := t.others(b)
	h := &t.first
	c.mu.Lock()
	switch {
	case c.drains():
		d, err = nothing, ErrClosed
	case h.slot.held() != nil:
		d = reenters // with two holds, the owner would forget one, and never end
	}
	if d != nil {
		c.mu.Unlock()
		return d, err
	}
	h.slot = h.slot.claim()
	h.slot.set(h)
	var ct *contest
	if p != nil {
		ct = p.contest // which p's place keeps
	} else {
		ct = c.contest(t.engine.contest())
	}
	usurped := ct.begin(t)
	t.contest = ct
	ct.last = nil
	ct.asking.Store(nil)
	ct.chance, ct.deaf = 0, false
	if t.reign = ct.reign; t.reign.since.IsZero() || t.first.began.Sub(t.reign.until) > ct.othersChance() {
		t.reign, ct.elsewhere = reign{since: t.first.began}, elsewhere{}
	}
	ct.reign = reign{}
	left := ct.later != nil // the head, which may be another one, has waited for that
	ct.calm()               // within this tenure, the head waits for it to end
	if ct.rivals != nil {
		ct.rivals.won()
	}
	ct.learn(deaf, far, b.Start())
	if p != nil {
		ct.bring(t, p)
		if p.inQueue != nil {
			p.starting, p.later = false, false
		}
		ct.remove(p)
	}
	if left {
		ct.wakeHead(false)
	}
	ct.seat(t)
	ct.advance()
	c.mu.Unlock()
	for _, before := range usurped {
		before.lose(cmp.Or(gone[before], ReasonGone)) // one may have begun meanwhile
	}
	return nil, nil
}

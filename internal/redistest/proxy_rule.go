package redistest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const faultWithin = 10 * time.Second

// fate is what happens to a command.
type fate int

const (
	pass fate = iota
	dropReply
	swallowReply
	dropRequest
	duplicate
	hold
)

// rule is a fate waiting for its commands.
type rule struct {
	// Immutable.
	match func(cmd []string) bool
	fate  fate
	drop  *Drop
	held  *Held

	left int // guarded by Proxy.mu: how many commands are still to be caught
}

// Drop is a fault that strikes a number of commands.
type Drop struct {
	n    int
	hits atomic.Int64
}

// Hits returns how often the fault has struck. It is counted before the client can
// notice anything.
func (d *Drop) Hits() int { return int(d.hits.Load()) }

// Wait waits until the fault has struck as often as it was told to.
func (d *Drop) Wait(t testing.TB) {
	t.Helper()
	Eventually(t, faultWithin, func() bool { return d.Hits() >= d.n }, "the fault strikes %d commands", d.n)
}

// DropReply lets the next n matching commands be executed, but loses the reply:
// once it has reached the proxy, the client's connection is closed. The replies to
// earlier commands still arrive.
//
// NOSCRIPT does not count, since nothing was executed: that reply passes and the
// fault waits for the next match. Connections that subscribed are left alone,
// because replies cannot be told from messages there; the same is true of
// [Proxy.SwallowReply] and [Proxy.Duplicate].
//
// A nil match matches every command. Of several faults that match a command the
// oldest strikes.
func (p *Proxy) DropReply(match func(cmd []string) bool, n int) *Drop {
	return p.addDrop(dropReply, match, n)
}

// SwallowReply is [Proxy.DropReply] with a connection that stays open and silent
// from then on, so that the client runs into its read timeout. What it still sends
// there is executed.
func (p *Proxy) SwallowReply(match func(cmd []string) bool, n int) *Drop {
	return p.addDrop(swallowReply, match, n)
}

// DropRequest loses the next n matching commands before they reach the server,
// along with everything after them on the connection, which is closed as soon
// as the replies to earlier commands have arrived.
func (p *Proxy) DropRequest(match func(cmd []string) bool, n int) *Drop {
	return p.addDrop(dropRequest, match, n)
}

// Duplicate sends the next n matching commands twice in a row. The client gets the
// first reply, but not before the second execution is over.
func (p *Proxy) Duplicate(match func(cmd []string) bool, n int) *Drop {
	return p.addDrop(duplicate, match, n)
}

func (p *Proxy) addDrop(f fate, match func([]string) bool, n int) *Drop {
	d := &Drop{n: n}
	p.addRule(&rule{match: match, fate: f, drop: d, left: n})
	return d
}

// Held is a set of commands that the proxy keeps back.
type Held struct {
	n        int
	proxy    *Proxy
	rule     *rule
	count    atomic.Int64
	once     sync.Once
	released chan struct{}
}

// Hold keeps the next n matching commands back, along with everything after them on
// their connections. A held command survives its client: when the client gave up
// and closed the connection, Release still has it executed, late.
func (p *Proxy) Hold(match func(cmd []string) bool, n int) *Held {
	h := &Held{n: n, proxy: p, released: make(chan struct{})}
	h.rule = &rule{match: match, fate: hold, held: h, left: n}
	p.addRule(h.rule)
	return h
}

// Wait waits until all n commands are held.
func (h *Held) Wait(t testing.TB) {
	t.Helper()
	Eventually(t, faultWithin, func() bool { return int(h.count.Load()) >= h.n }, "%d commands are held", h.n)
}

// Release forwards the held commands and holds no further ones. It does not wait for
// their execution. Further calls do nothing.
func (h *Held) Release() {
	h.once.Do(func() {
		h.proxy.mu.Lock()
		h.rule.left = 0
		h.proxy.mu.Unlock()
		close(h.released)
	})
}

func (p *Proxy) addRule(r *rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, r)
}

// judge finds the command's fate. With raw set, the connection's replies are not
// matched to requests, and rules that need that do not apply.
func (p *Proxy) judge(cmd []string, raw bool) (fate, *rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rules {
		if raw && r.fate != hold && r.fate != dropRequest {
			continue
		}
		if r.left > 0 && (r.match == nil || r.match(cmd)) {
			r.left--
			if r.held != nil {
				r.held.count.Add(1)
			}
			return r.fate, r
		}
	}
	return pass, nil
}

// giveBack lets the rule strike another command in place of one it spared.
func (p *Proxy) giveBack(r *rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.left++
}

package redistest

import (
	"bufio"
	"slices"
	"strings"
)

// expectation is a reply that is still to come. Its place in the queue is what
// identifies it, since replies carry no name.
type expectation struct {
	fate       fate // dropRequest: no reply, hang up when it is next
	rule       *rule
	second     bool // of a duplicate
	subscribes bool
}

// readReplies ends when the server's side is closed.
func (c *proxyConn) readReplies() {
	defer c.toClient.close()
	r := bufio.NewReader(c.server)
	for raw := false; !raw; {
		f, err := readFrame(r)
		if err != nil {
			return
		}
		raw = c.answer(f)
	}
	buf := make([]byte, 16<<10)
	for {
		n, err := r.Read(buf)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.reply(slices.Clone(buf[:n]))
		c.mu.Unlock()
	}
}

// answer deals with one frame from the server, and reports whether those after it
// can still be matched. Matching and queueing are one step under mu, or else
// closeAfterReplies could overtake a reply between the two.
func (c *proxyConn) answer(f frame) (raw bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A push frame answers nothing, except that RESP3 confirms a subscription by one.
	if len(c.expected) == 0 || f.kind == '>' && !c.expected[0].subscribes {
		c.reply(f.raw)
		return false
	}
	e := c.expected[0]
	c.expected = c.expected[1:]
	struck := e.rule != nil && e.fate != hold && (e.fate != duplicate || e.second)
	spared := f.kind == '-' && strings.HasPrefix(f.text, "NOSCRIPT")
	switch {
	case struck && spared:
		c.proxy.giveBack(e.rule)
	case struck:
		e.rule.drop.hits.Add(1)
	}
	switch {
	case e.fate == duplicate && !e.second:
		c.first = f.raw
	case e.fate == duplicate:
		c.reply(c.first)
	case e.fate == dropReply && !spared:
		c.hangUp()
	case e.fate == swallowReply && !spared:
		c.silent = true
	default:
		c.reply(f.raw)
	}
	if len(c.expected) > 0 && c.expected[0].fate == dropRequest {
		c.hangUp()
	}
	c.raw = e.subscribes
	return c.raw
}

// reply queues bytes for the client. The caller holds mu.
func (c *proxyConn) reply(raw []byte) {
	if !c.silent {
		c.toClient.push(parcel{raw: raw, due: c.proxy.due()})
	}
}

// hangUp closes the client's side after what is queued for it. The caller holds mu.
func (c *proxyConn) hangUp() {
	if !c.silent {
		c.toClient.push(parcel{last: true, due: c.proxy.due()})
		c.silent = true
	}
}

// writeReplies ends when everything from a server that is gone has been sent. Then it
// closes the client's side, unless that side is to hear nothing.
func (c *proxyConn) writeReplies() {
	for {
		p, ok := c.toClient.pop(c.proxy.ctx)
		switch {
		case !ok:
			c.mu.Lock()
			silent := c.silent
			c.mu.Unlock()
			if !silent && !c.dead.Load() {
				c.closeClient()
			}
			return
		case c.dead.Load():
		case p.last:
			c.closeClient()
		default:
			_, _ = c.client.Write(p.raw) // a client that is gone loses it
		}
	}
}

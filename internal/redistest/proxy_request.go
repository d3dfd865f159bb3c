package redistest

import "bufio"

// From these on, the server sends frames that answer no request.
var subscribes = Command("SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE",
	"UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "MONITOR", "SYNC", "PSYNC")

// readRequests ends when the client's side is closed.
func (c *proxyConn) readRequests() {
	defer c.toServer.close()
	defer c.closeClient()
	r := bufio.NewReader(c.client)
	raw := false
	for {
		f, err := readFrame(r)
		if err != nil {
			return
		}
		if c.dead.Load() {
			c.discard()
			return
		}
		p := parcel{raw: f.raw, due: c.proxy.due(), cmd: f.command()}
		if len(p.cmd) > 0 {
			p.fate, p.rule = c.proxy.judge(p.cmd, raw)
			raw = raw || subscribes(p.cmd)
		}
		c.toServer.push(p)
	}
}

// writeRequests ends when everything from a client that is gone has been sent. Only
// then does it let the server know: a held or delayed command outlives its client.
func (c *proxyConn) writeRequests() {
	dropped := false
	for {
		p, ok := c.toServer.pop(c.proxy.ctx)
		if !ok {
			break
		}
		if p.fate == hold {
			select {
			case <-p.rule.held.released:
			case <-c.proxy.ctx.Done():
			}
		}
		switch {
		case dropped || c.dead.Load() || c.proxy.ctx.Err() != nil:
		case p.fate == dropRequest:
			dropped = true
			p.rule.drop.hits.Add(1)
			c.closeAfterReplies()
		default:
			c.send(p)
		}
	}
	if !c.dead.Load() {
		// A half-close: the server executes all it has read before it sees the end.
		_ = c.server.CloseWrite()
	}
}

// send expects the reply before it can come. That a write failed shows in
// readReplies.
func (c *proxyConn) send(p parcel) {
	if len(p.cmd) == 0 {
		_, _ = c.server.Write(p.raw)
		return
	}
	e := expectation{fate: p.fate, rule: p.rule, subscribes: subscribes(p.cmd)}
	c.expect(e)
	c.proxy.record(p.cmd)
	if p.fate == duplicate {
		e.second = true
		c.expect(e)
		c.proxy.record(p.cmd)
		p.raw = append(p.raw, p.raw...)
	}
	_, _ = c.server.Write(p.raw)
}

func (c *proxyConn) expect(e expectation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.raw {
		c.expected = append(c.expected, e)
	}
}

// closeAfterReplies closes the client's side once it has the replies to all that was
// sent, at once if none is due.
func (c *proxyConn) closeAfterReplies() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.raw || len(c.expected) == 0 {
		c.hangUp()
		return
	}
	c.expected = append(c.expected, expectation{fate: dropRequest})
}

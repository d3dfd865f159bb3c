package redistest

import "time"

// SetDelay makes every round trip longer by d, half of it in each direction.
// Commands in a pipeline are delayed together, not one after the other. What is
// under way keeps the delay it set out with.
func (p *Proxy) SetDelay(d time.Duration) { p.delay.Store(int64(d)) }

func (p *Proxy) due() time.Time {
	d := time.Duration(p.delay.Load())
	if d == 0 {
		return time.Time{}
	}
	return time.Now().Add(d / 2)
}

// Blackhole makes all present connections silent for good and, while on, every
// new one too: they are accepted and stay open, but bytes go nowhere, not even the
// news that the other side closed. Held commands on them are lost. After
// Blackhole(false) new connections work again.
func (p *Proxy) Blackhole(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blackhole = on
	if on {
		for c := range p.conns {
			c.dead.Store(true)
		}
	}
}

// Reset closes the client's side of all present connections with RST. Commands
// that had reached the proxy still reach the server, as they may in a network.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		// Discarding unsent data is what makes the kernel send RST and not FIN.
		_ = c.client.SetLinger(0)
		c.closeClient()
	}
}

// Refuse, while on, closes new connections at once. Present ones go on.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = on
}

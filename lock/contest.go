package lock

import "github.com/holdfast-go/holdfast/waiter"

// A contest is one name in this process: the hold that this client has on it, and who
// waits for it here. Only the head of the queue contends at Redis, so a release costs
// one attempt per process and not one per waiter. All fields are guarded by the
// client's mu.
type contest struct {
	client  *Client
	key     string
	channel string
	holder  *hold    // nil: nobody in this process, as far as is known
	queue   []*place // first come, first served
	wakes   *waiter.Subscription
	seen    denial // what the last attempt found
}

// A place is where one blocked Lock stands in its contest.
type place struct {
	contest *contest
	wake    chan struct{} // one slot: it became the head, or has reason to look
	look    bool          // try, even if this process seems to hold the lock
}

// join queues for key and returns the place.
func (c *Client) join(key, channel string) *place {
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contest(key, channel)
	p := &place{contest: ct}
	ct.queue = append(ct.queue, p)
	return p
}

// contest finds or makes the contest for key. Called with mu held.
func (c *Client) contest(key, channel string) *contest {
	ct := c.contests[key]
	if ct == nil {
		ct = &contest{client: c, key: key, channel: channel}
		c.contests[key] = ct
	}
	return ct
}

// turn tells whether p is to make an attempt now.
func (p *place) turn() bool {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.contest.queue[0] != p || p.contest.holder != nil && !p.look {
		return false
	}
	p.look = false
	return true
}

// lookAgain has p try even if this process seems to hold the lock: somebody may have
// ended that by force.
func (p *place) lookAgain() {
	c := p.contest.client
	c.mu.Lock()
	p.look = true
	c.mu.Unlock()
}

// leave gives the place up, and the turn to who is behind it.
func (p *place) leave() {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.contest.remove(p)
}

func (ct *contest) remove(p *place) {
	for i := range ct.queue {
		if ct.queue[i] != p {
			continue
		}
		if i == 0 {
			ct.queue[0] = nil
			ct.queue = ct.queue[1:]
			ct.wakeHead(false)
		} else {
			ct.queue = append(ct.queue[:i], ct.queue[i+1:]...)
		}
		break
	}
	ct.tidy()
}

// wakeHead has the head of the queue look after its turn.
func (ct *contest) wakeHead(look bool) {
	if len(ct.queue) == 0 {
		return
	}
	p := ct.queue[0]
	p.look = p.look || look
	if p.wake != nil {
		signal(p.wake)
	}
}

// tidy forgets what nobody needs.
func (ct *contest) tidy() {
	if len(ct.queue) > 0 {
		return
	}
	ct.queue = nil
	if ct.wakes != nil {
		ct.wakes.Close()
		ct.wakes = nil
	}
	if ct.holder == nil {
		delete(ct.client.contests, ct.key)
	}
}

// watch returns what p waits on, and for the head also the subscription that wakes it.
func (p *place) watch() (wake <-chan struct{}, head bool, wakes *waiter.Subscription) {
	ct := p.contest
	ct.client.mu.Lock()
	defer ct.client.mu.Unlock()
	if p.wake == nil {
		p.wake = make(chan struct{}, 1)
	}
	head = ct.queue[0] == p
	if head && ct.wakes == nil {
		ct.wakes = ct.client.hub.Subscribe(ct.channel, ct.published)
	}
	return p.wake, head, ct.wakes
}

// published has the head look after a release somewhere, or when messages were missed.
func (ct *contest) published(id string) {
	ct.client.mu.Lock()
	defer ct.client.mu.Unlock()
	// A release of this process has woken the head already, without the way round
	// through Redis. That of the present holder is somebody's ForceUnlock.
	if ct.client.made(id) && (ct.holder == nil || ct.holder.id != id) {
		return
	}
	ct.wakeHead(true)
}

// won makes h the holder, in place of p's wait if there was one. It fails if the
// client is closed.
func (c *Client) won(h *hold, p *place) bool {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return false
	}
	ct := c.contest(h.keys().Lock, h.keys().Channel)
	before := ct.holder
	ct.holder = h
	ct.seen = denial{}
	if p != nil {
		ct.remove(p)
	}
	c.mu.Unlock()
	if before != nil {
		before.lose("another owner has acquired it")
	}
	return true
}

// over notes that h has ended, and has the next one here try. The release is in the
// lanes by now, so it is executed before what the next one sends.
func (c *Client) over(h *hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contests[h.keys().Lock]
	if ct == nil || ct.holder != h {
		return
	}
	ct.holder = nil
	ct.wakeHead(false)
	ct.tidy()
}

// wanted tells whether somebody in this process waits for h to end.
func (c *Client) wanted(h *hold) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ct := c.contests[h.keys().Lock]
	return ct != nil && len(ct.queue) > 0
}

// holder returns the hold that this client has on key.
func (c *Client) holder(key string) *hold {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ct := c.contests[key]; ct != nil {
		return ct.holder
	}
	return nil
}

// saw remembers what an attempt found, for the errors of those who made none.
func (p *place) saw(d denial) {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	p.contest.seen = d
}

// holds tells who has the lock, as far as this process knows.
func (p *place) holds() denial {
	c := p.contest.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := p.contest.holder; h != nil {
		return denial{holder: h.id, sure: true}
	}
	return p.contest.seen
}

// signal fills a one-slot channel.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // the signal that is there will do
	}
}

package waiter

import "time"

// A Subscription is one interest in a channel. It is safe for concurrent use. Use
// [Hub.Subscribe] to get one.
type Subscription struct {
	channel *channel
	wake    func(messages []string)
}

// Ready is closed while a quorum of nodes confirms the subscription: messages published from
// then on are not missed, as long as the connections last. Earlier messages may have been missed:
// look again after Ready. If no quorum is left, as connections have broken, Ready returns another
// channel, which is open until there is one again. It costs no mutex.
func (s *Subscription) Ready() <-chan struct{} { return *s.channel.ready.Load() }

// Close ends the interest. It does not wait for a wake-up that has begun.
func (s *Subscription) Close() {
	h := s.channel.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(s.channel.subscriptions, s)
	if len(s.channel.subscriptions) == 0 && h.channels[s.channel.name] == s.channel {
		h.idle[s.channel] = time.Now()
		h.arm()
	}
}

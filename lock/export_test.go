package lock

// StopWatchdog has nothing come due any more: as in a process that was paused, and has not
// yet got round to it.
func StopWatchdog(c *Client) { c.watchdog.Close() }

// WithoutProbe has the client ask nodes for nothing by itself: a test of hours would take long, and
// one that states when what is sent would not hold.
func WithoutProbe() ClientOption { return clientOption(func(s *clientSettings) { s.probePause = 0 }) }

// SetMaxNews bounds what waits to be told to the client's observers.
func SetMaxNews(c *Client, most int) {
	c.audience.mu.Lock()
	defer c.audience.mu.Unlock()
	c.audience.most = most
}

// CrowdAdmissions leaves no room for whoever would ask the nodes again, as a crowd in front of a node that is stuck does.
func CrowdAdmissions(c *Client) {
	for range cap(c.returners) {
		c.returners <- struct{}{}
	}
}

// Queuers returns how many waiters of this client are known to be in queues on the nodes.
func Queuers(c *Client) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queuers)
}

package lock

// StopWatchdog has nothing come due any more: as in a process that was paused, and has not
// yet got round to it.
func StopWatchdog(c *Client) { c.watchdog.Close() }

package main

import "time"

const (
	minTTL     = time.Second
	mostGrace  = 10 * time.Second // by default
	mostMargin = 2 * time.Second
)

// margin is how long before the lease's deadline SIGKILL is sent: the group must be gone when the deadline
// comes, also where this process runs a little late.
func margin(ttl time.Duration) time.Duration { return min(ttl/10, mostMargin) }

// defaultGrace is the time from SIGTERM to SIGKILL if none is given.
func defaultGrace(ttl time.Duration) time.Duration { return min(ttl/3, mostGrace) }

// maxGrace is the longest grace that fits a TTL. A lock is renewed after a third of its TTL, and if that fails,
// again and again. With the margin, SIGTERM comes after about half of the TTL at the earliest: a
// renewal that succeeds at the second or third try ends no command.
func maxGrace(ttl time.Duration) time.Duration { return ttl * 2 / 5 }

// checkGrace refuses settings that the supervisor could not keep its promise with.
func checkGrace(ttl, grace time.Duration) error {
	switch {
	case ttl < minTTL:
		return usagef("--ttl %v is too short: a command cannot be ended in time with less than %v", ttl, minTTL)
	case grace < 0:
		return usagef("--grace %v is negative", grace)
	case grace > maxGrace(ttl):
		return usagef("--grace %v does not fit --ttl %v: it may be %v at most, two fifths of the TTL, "+
			"so that SIGKILL comes before the lock can expire", grace, ttl, maxGrace(ttl))
	}
	return nil
}

package main

import "time"

// maxStall is how long nobody may have a lock while somebody waits and a quorum is
// well: a crashed holder's TTL, a crashed waiter's heartbeat and a lost message's poll
// can come together, and the machine is busy.
const maxStall = 8 * time.Second

// checkProgress finds waiters that are not served (I6).
func checkProgress(h *History) []Violation {
	var found []Violation
	for _, name := range h.names() {
		if longest, at := h.stall(name, everyone); longest > int64(h.Cell.stall()) {
			found = append(found, violation(at, "%q: nobody had it for %v, though a quorum was well and somebody waited",
				name, time.Duration(longest).Round(time.Millisecond)))
		}
		if !isShared(name) {
			continue
		}
		for who, counts := range map[string]func(*Call) bool{
			"read": func(c *Call) bool { return c.Reads }, "write": func(c *Call) bool { return !c.Reads },
		} {
			if longest, at := h.stall(name, counts); longest > int64(h.Cell.stall()) {
				found = append(found, violation(at, "%q: nobody came to %s for %v, though a quorum was well and somebody waited to",
					name, who, time.Duration(longest).Round(time.Millisecond)))
			}
		}
	}
	for _, c := range h.Calls {
		if c.Final && c.Return > 0 && !c.granted() {
			found = append(found, violation(c.Return, "%q: %s asked at %s and got nothing for %v, with nothing in its way: %s",
				c.Name, c.id(), h.seconds(c.Invoke), time.Duration(c.Return-c.Invoke).Round(time.Millisecond), c.Err))
		}
	}
	if h.Stuck {
		found = append(found, violation(h.End, "a worker did not come to its end"))
	}
	return found
}

func everyone(*Call) bool { return true }

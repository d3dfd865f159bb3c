package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// checkStays finds a lock that another hold was granted too soon: before the minimum hold of the
// one before it was over, or, after one that crashed or could not be renewed, before its rest was.
func checkStays(h *History) []Violation {
	if h.Cell.MinHold == 0 && h.Cell.Rested == 0 || !h.Cell.kept() {
		return nil
	}
	var found []Violation
	type stay struct {
		by    *Call
		until int64
		why   string
	}
	stays := make(map[string]stay) // by lock: the longest
	leases := h.leases()
	slices.SortFunc(leases, func(a, b *Call) int { return cmp.Compare(a.Return, b.Return) })
	for _, c := range leases {
		if h.end(c) <= c.Return {
			continue // over before it was seen: it may have been granted long ago
		}
		s := stays[c.Name]
		if s.by != nil && s.by.Hold != c.Hold && c.Return < s.until {
			found = append(found, violation(c.Return, "%q: %s, and %s within the %s of it, which lasts until %s",
				c.Name, h.tell(s.by), h.tell(c), s.why, h.seconds(s.until)))
		}
		// That counts from the grant of the hold, and not from its re-entry.
		if until := c.Start + apart(h.Cell.MinHold); c.Within == 0 && until > s.until {
			s = stay{c, until, "minimum hold"}
		}
		if until := c.Deadline + apart(h.Cell.Rested); h.Cell.Rested > 0 && h.crashed(c) && until > s.until {
			s = stay{c, until, "rest"}
		}
		stays[c.Name] = s
	}
	return found
}

// apart is d by the fastest clock that a node may have.
func apart(d time.Duration) int64 { return int64(d) * 98 / 100 }

// crashed tells whether a lease ended by its keys' expiry, as nobody was there to release or to
// renew them.
func (h *History) crashed(c *Call) bool {
	_, dead := h.killed[c.Proc]
	return dead && c.Unlock == 0 && c.Lost == 0 || c.Lost > 0 && c.Over == lock.ReasonNotRenewed.String()
}

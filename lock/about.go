package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
)

// about returns the lock's kind for observers.
func (e *engine) about() LockKind {
	k := LockKind{Kind: "reentrant"}
	switch e.kind.Family() {
	case kind.ReadWrite:
		k = LockKind{Kind: "readwrite", Mode: "write"}
		if e.reads() {
			k.Mode = "read"
		}
	case kind.Semaphore:
		k.Kind = "semaphore"
	default:
		if e.order == queued {
			k.Kind = "fair"
		}
	}
	return k
}

// about describes the call for observers, before it has ended.
func (c *call) about() Acquisition {
	return Acquisition{LockKind: c.engine.about(), Name: c.engine.name, Try: !c.blocks, Start: c.began}
}

// report describes the end of h, for reason, for observers.
func (h *hold) report(reason Reason) HoldEnd {
	return HoldEnd{
		LockKind: h.by.about(), Name: h.by.name, Hold: h.name(), Token: h.token,
		Held: time.Since(h.began), Reason: reason,
	}
}

// lost logs that h was lost.
func (j *journal) lost(h *hold, reason Reason) {
	j.Warn("lock: lease lost", append(h.about(), "reason", reason)...)
}

// late logs that h was renewed when so little of its validity was left.
func (j *journal) late(h *hold, left time.Duration) {
	j.Warn("lock: lease was renewed late", append(h.about(), "left", left, "ttl", h.engine.set.ttl)...)
}

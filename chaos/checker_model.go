package main

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// checkModel looks for an order of all that happened in which a single lock could have
// answered as it did: with one owner, a count and a token. What has an unknown outcome
// may have happened at any time from then on, or never: an Unlock that failed, or the
// end of a lease that was lost or whose process was killed. The end of a lease by
// itself comes no sooner than its deadline.
func checkModel(h *History) []Violation {
	if !h.Cell.kept() {
		return nil // nothing is promised that a model could hold it to
	}
	var found []Violation
	operations := make(map[string][]porcupine.Operation)
	for i, c := range h.leases() {
		if isShared(c.Name) || isSemaphore(c.Name) {
			continue // it is no single lock with one owner: exclusion, tokens and register judge it
		}
		from, to := h.over(c)
		operations[c.Name] = append(operations[c.Name],
			porcupine.Operation{ClientId: i, Input: step{take: true, call: c}, Call: c.Invoke, Return: c.Return},
			porcupine.Operation{ClientId: i, Input: step{call: c}, Call: from, Return: to})
	}
	for name, ops := range operations {
		switch porcupine.CheckOperationsTimeout(lockModel, ops, 20*time.Second) {
		case porcupine.Illegal:
			found = append(found, violation(firstIllegal(ops), "%q: no single lock could have answered like this", name))
		case porcupine.Unknown:
			found = append(found, violation(h.End, "%q: not decided within 20 s", name))
		case porcupine.Ok:
		}
	}
	return found
}

// over is the time within which a lease ended for everyone.
func (h *History) over(c *Call) (from, to int64) {
	switch {
	case c.Unlocked > 0 && c.Failed == "":
		return c.Unlock, c.Unlocked
	case c.Lost > 0 && c.Lost < c.Deadline:
		return c.Held, forever // nodes told that it was gone
	case c.Unlock > 0:
		return min(c.Unlock, c.Deadline), forever
	case c.Lost > 0:
		return c.Deadline, forever
	}
	if _, dead := h.killed[c.Proc]; dead {
		return c.Deadline, forever
	}
	return c.Held, forever // it has not ended yet
}

// firstIllegal is when it first became impossible: the least moment up to which the
// operations that had returned have no order.
func firstIllegal(ops []porcupine.Operation) int64 {
	low, high := 0, len(ops)
	for low+1 < high {
		middle := (low + high) / 2
		if porcupine.CheckOperationsTimeout(lockModel, ops[:middle], 5*time.Second) == porcupine.Illegal {
			high = middle
		} else {
			low = middle
		}
	}
	return ops[high-1].Call
}

// A step is one thing that happens to a lock: a lease is granted, or one ends.
type step struct {
	take bool
	call *Call
}

// lockState is a lock: who owns it, how often, and the last token.
type lockState struct {
	hold  string
	count int
	token int64
}

var lockModel = porcupine.Model{
	Init: func() any { return lockState{} },
	Step: func(state, input, _ any) (bool, any) {
		s, in := state.(lockState), input.(step)
		c := in.call
		switch {
		case in.take && s.hold == "":
			return c.Count == 1 && c.Token > s.token, lockState{hold: c.Hold, count: 1, token: c.Token}
		case in.take:
			s.count++
			return s.hold == c.Hold && s.token == c.Token && s.count == c.Count, s
		case s.hold != c.Hold:
			return false, s
		}
		if s.count--; s.count == 0 {
			s.hold = ""
		}
		return true, s
	},
	DescribeOperation: func(input, _ any) string {
		in := input.(step)
		return fmt.Sprintf("%v take=%v count %d token %d", in.call.id(), in.take, in.call.Count, in.call.Token)
	},
}

package main

import "github.com/holdfast-go/holdfast/internal/fifo"

// checkOrder finds a waiter of a fair lock that was overtaken by another that had not
// begun to wait when the nodes were seen to have its place (I7). That holds absent
// failures, so it is demanded only where there are none.
func checkOrder(h *History) []Violation {
	var found []Violation
	for _, f := range h.Cell.Faults {
		if f != FlushScripts {
			return nil
		}
	}
	settled := make(map[string]int64) // by hold: since when its place is known to be fixed
	for _, l := range h.Looks {
		var queues [][]fifo.Place
		for _, n := range l.Nodes {
			if n.OK {
				queues = append(queues, n.Queue)
			}
		}
		if len(queues) < h.Cell.quorum() {
			continue
		}
		for _, hold := range fifo.Settled(queues, h.Cell.quorum()) {
			if settled[hold] == 0 {
				settled[hold] = l.To
			}
		}
	}
	logs := make(map[string][]fifo.Waiter)
	for _, c := range h.leases() {
		if !isFair(c.Name) || c.Count > 1 {
			continue
		}
		w := fifo.Waiter{Name: c.id(), Hold: c.Hold, Began: fifo.Moment(c.Invoke), Granted: fifo.Moment(c.Return)}
		if at := settled[c.Hold]; at > 0 && at < c.Return {
			w.Ended = fifo.Moment(at)
		}
		logs[c.Name] = append(logs[c.Name], w)
	}
	for name, log := range logs {
		for _, i := range fifo.Inversions(log) {
			found = append(found, violation(int64(i.By.Granted), "%q: %s had its place at %s and got the lock at %s; %s came at %s and got it at %s",
				name, i.Waiter.Name, h.seconds(int64(i.Waiter.Ended)), h.seconds(int64(i.Waiter.Granted)),
				i.By.Name, h.seconds(int64(i.By.Began)), h.seconds(int64(i.By.Granted))))
		}
	}
	return found
}

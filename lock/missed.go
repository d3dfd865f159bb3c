package lock

import (
	"slices"
	"time"
)

// A node serves the head of its queue, and nobody else before it. If the answers to a process come later than the node
// timeout, as it is too far away or has no time, its head is granted the lock, gives it back, is granted it again, and
// so on: it keeps its place, as its signs of life arrive, and nobody else would ever have a turn. So after a few turns that were
// missed in this way, queuers give up their places. From then on, one at a time asks now and then, from the end of
// the queue, until a quorum answers in time.
//
// Only a grant that came too late counts. Nodes that do not answer at all have nobody waiting for this process, and
// those that come back find the queue as it was.

const (
	// maxMissed is how many turns in a row a process may miss before its queuers give up their places.
	maxMissed = 3
	// missedPause is the time until one of them asks again.
	missedPause = 3 * time.Second
)

// misses records that a node has granted the lock to a queuer too late. A quorum of such nodes makes a missed turn: those
// who never hear what the nodes propose have different tickets there, so each node may grant to another one.
func (ct *contest) misses(node int) {
	ct.client.mu.Lock()
	defer ct.client.mu.Unlock()
	m := &ct.missed
	if slices.Contains(m.nodes, node) {
		return
	}
	if m.nodes = append(m.nodes, node); len(m.nodes) >= ct.client.group.Quorum() {
		m.nodes, m.turns = m.nodes[:0], m.turns+1
	}
}

// hears records that a quorum has answered a queuer in time.
func (ct *contest) hears() {
	ct.client.mu.Lock()
	if ct.missed.turns > 0 || len(ct.missed.nodes) > 0 {
		ct.missed = missedTurns{}
	}
	ct.client.mu.Unlock()
}

// outside returns for how long a queuer without a place must not ask for one; 0: it may now.
func (ct *contest) outside() time.Duration {
	ct.client.mu.Lock()
	defer ct.client.mu.Unlock()
	if ct.missed.turns < maxMissed {
		return 0
	}
	now := time.Now()
	if left := ct.missed.again.Sub(now); left > 0 {
		return left
	}
	ct.missed.again = now.Add(missedPause)
	return 0
}

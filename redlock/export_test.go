package redlock

// Idle tells whether no runner is at work: what is prepared then leaves together. It does not
// look at the shards of a Cluster.
func (g *Group) Idle() bool {
	for _, n := range g.nodes {
		l := n.lane
		l.mu.Lock()
		busy := l.busy > 0 || len(l.queue) > 0
		l.mu.Unlock()
		if busy {
			return false
		}
	}
	return true
}

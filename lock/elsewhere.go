package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// listens returns how many of a server's listeners are this client's. Called with mu held.
func (ct *contest) listens() int {
	if ct.wakes != nil {
		return 1
	}
	return 0
}

// others returns what the nodes that have granted t say of other processes.
func (t *tenure) others(b *redlock.Ballot) (deaf bool, far map[string]lua.FarMark) {
	c := t.engine.client
	if t.engine.order != unordered {
		return false, nil
	}
	for i := range c.group.Size() {
		if a := b.Answer(i); a.Vote == redlock.Yes {
			granted, _ := t.engine.kind.Acquired(a.Reply)
			deaf = deaf || granted.Deaf
			far = distants(far, granted.Far, c.id)
		}
	}
	return deaf, far
}

// learn records what the nodes have said with a grant of those who cannot come as long as this process comes back at
// once. Called with mu held.
func (ct *contest) learn(deaf bool, far map[string]lua.FarMark, asked time.Time) {
	ct.told(far)
	ct.elsewhere.deaf = deaf
	if ct.minds() {
		ct.elsewhere.waits, ct.elsewhere.trip = true, time.Since(asked)
	}
}

// told records the marks that the nodes have named. Called with mu held.
func (ct *contest) told(marks map[string]lua.FarMark) {
	switch {
	case ct.rivals != nil:
		ct.rivals.told(marks)
	case len(marks) > 0:
		ct.rivals = new(rivals)
		ct.rivals.told(marks)
	}
}

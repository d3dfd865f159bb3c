package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// restoration is extension, except that a free node that vouches for the hold gets it again.
func (t *tenure) restoration(ttl time.Duration) redlock.Motion {
	g := t.engine.client.group
	t.mu.Lock()
	count, token, since, reads := t.count(), t.reserve.top, t.since, t.reads
	lasts := t.lasting(ttl)
	t.mu.Unlock()
	r := lua.Restore{
		Keys:      t.keys(),
		Hold:      t.id,
		Count:     count,
		TTL:       lasts,
		Token:     token,
		Retention: t.engine.client.retention,
		// Later answers do not count.
		Uptime: max(time.Since(since)+g.NodeTimeout(), t.engine.client.guard),
		Queued: t.engine.order == queued,
		Round:  t.round,
		Guard:  t.engine.client.guard,
	}
	call := r.Call()
	if k := t.engine.shared; k != nil {
		call = k.Restore(t.numbered(), r, reads)
	}
	return redlock.Motion{
		Name: "restore",
		Call: call,
		Yes: func(reply any) (bool, error) {
			e, err := lua.ParseRestored(reply)
			return e == lua.ExtendDone || e == lua.ExtendBack, unlessFree(e, err)
		},
		Each:      t.extended,
		Creates:   true,
		Footprint: t.footprint,
	}
}

package lock

import (
	"context"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// whyGone returns why so many nodes, as b shows, no longer have the hold.
func (t *tenure) whyGone(b *redlock.Ballot) Reason {
	for i := range t.engine.client.group.Size() {
		if e, err := lua.ParseRestored(b.Answer(i).Reply); err == nil && e == lua.ExtendForced {
			return ReasonForced
		}
	}
	return ReasonGone
}

// askWhyGone is whyGone for a hold that was found to be gone by a request other than an extension. Among the nodes'
// answers is ErrRestarted of those that the restart guard keeps out. It takes no longer than a node timeout.
func (t *tenure) askWhyGone() (Reason, *redlock.Ballot) {
	c := t.engine.client
	b, err := c.group.Decide(context.Background(), redlock.Motion{
		Name: "forced",
		Call: lua.Forced{Keys: t.keys(), Hold: t.id, Guard: c.guard}.Call(),
		Yes:  lua.ParseForced,
		All:  true,
	})
	for i := range c.group.Size() {
		if err == nil && b.Answer(i).Vote == redlock.Yes {
			return ReasonForced, b
		}
	}
	return ReasonGone, b
}

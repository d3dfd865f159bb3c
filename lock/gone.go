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

// askWhyGone is whyGone for a hold that was found to be gone by a request other than an extension.
// It takes no longer than a node timeout.
func (t *tenure) askWhyGone() Reason {
	g := t.engine.client.group
	b, err := g.Decide(context.Background(), redlock.Motion{
		Name: "forced",
		Call: lua.Forced{Keys: t.keys(), Hold: t.id}.Call(),
		Yes:  lua.ParseForced,
		All:  true,
	})
	for i := range g.Size() {
		if err == nil && b.Answer(i).Vote == redlock.Yes {
			return ReasonForced
		}
	}
	return ReasonGone
}

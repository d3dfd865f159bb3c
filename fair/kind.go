package fair

import (
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// kind is what is special about this lock: who finds it taken stands in a queue on the
// nodes, and a release wakes the head of that queue alone.
type kind struct{}

var _ lock.Queue = kind{}

func common(r lock.Request) lua.Fair {
	return lua.Fair{Keys: r.Keys, Channel: r.Channel, Alone: r.Alone, Life: r.Life}
}

func acquire(r lock.Request) lua.FairAcquire {
	return lua.FairAcquire{Fair: common(r), Hold: r.Hold, TTL: r.TTL, Retention: r.Retention, Guard: r.Guard}
}

func (kind) Acquire(r lock.Request) lua.Call { return acquire(r).Call() }

func (kind) Acquired(reply any) (lua.Acquired, error) { return lua.ParseFairAcquired(reply) }

func (kind) Wait(r lock.Request, ticket lua.Ticket, round int64) lua.Call {
	a := acquire(r)
	a.Wait, a.Ticket, a.Round = true, ticket, round
	return a.Call()
}

// Release wakes the head even if it is to be quiet, but for the successor, who asks unasked.
func (kind) Release(r lock.Request, quiet bool, mark time.Duration) lua.Call {
	release := lua.FairRelease{Fair: common(r), Hold: r.Hold, Mark: mark, Undo: r.Undo}
	if quiet {
		release.Successor = r.Successor
	}
	return release.Call()
}

func (kind) Released(reply any) (bool, error) { return lua.ParseReleased(reply) }

func (kind) Yield(r lock.Request, ticket lua.Ticket, round int64) lua.Call {
	return lua.FairYield{Fair: common(r), Hold: r.Hold, Ticket: ticket, Round: round}.Call()
}

func (kind) Yielded(reply any) (int64, error) { return lua.ParseFairYielded(reply) }

func (kind) Settle(r lock.Request) lua.Call {
	return lua.FairSettle{Fair: common(r), Hold: r.Hold}.Call()
}

func (kind) Settled(reply any) (bool, error) { return lua.ParseFairSettled(reply) }

func (kind) Beat(r lock.Request, name string, holds []string) lua.Call {
	return lua.FairBeat{Fair: common(r), Name: name, Holds: holds}.Call()
}

func (kind) Due(reply any) ([]string, error) { return lua.ParseFairBeat(reply) }

package fair

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
)

// scripts are the scripts of this kind: a caller that finds the lock taken joins a queue on the
// nodes, and a release wakes only the head of that queue.
type scripts struct{}

var _ kind.Queue = scripts{}

func (scripts) Family() kind.Family { return kind.Mutex }

func common(r kind.Request) lua.Fair {
	return lua.Fair{Keys: r.Keys, Channel: r.Channel, Alone: r.Alone, Life: r.Life}
}

func acquire(r kind.Request) lua.FairAcquire {
	return lua.FairAcquire{Fair: common(r), Hold: r.Hold, TTL: r.TTL, Retention: r.Retention, Guard: r.Guard, Noted: r.Noted}
}

func (scripts) Acquire(r kind.Request) lua.Call { return acquire(r).Call() }

func (scripts) Acquired(reply any) (lua.Acquired, error) { return lua.ParseFairAcquired(reply) }

func (scripts) Wait(r kind.Request, ticket lua.Ticket, round int64) lua.Call {
	a := acquire(r)
	a.Wait, a.Ticket, a.Round = true, ticket, round
	return a.Call()
}

// Release wakes the head even if it should be quiet, except for the successor, which asks without
// being told.
func (scripts) Release(r kind.Request, quiet bool, mark time.Duration) lua.Call {
	release := lua.FairRelease{Fair: common(r), Hold: r.Hold, Mark: mark, Undo: r.Undo, Noted: r.Noted, Again: r.Again, Served: r.Served}
	if quiet {
		release.Successor = r.Successor
	}
	return release.Call()
}

func (scripts) Released(reply any) (bool, error) { return lua.ParseReleased(reply) }

func (scripts) Yield(r kind.Request, ticket lua.Ticket, round int64) lua.Call {
	return lua.FairYield{Fair: common(r), Hold: r.Hold, Ticket: ticket, Round: round}.Call()
}

func (scripts) Yielded(reply any) (int64, error) { return lua.ParseFairYielded(reply) }

func (scripts) Settle(r kind.Request) lua.Call {
	return lua.FairSettle{Fair: common(r), Hold: r.Hold}.Call()
}

func (scripts) Settled(reply any) (bool, error) { return lua.ParseFairSettled(reply) }

func (scripts) Beat(r kind.Request, name string, holds []string) lua.Call {
	return lua.FairBeat{Fair: common(r), Name: name, Holds: holds}.Call()
}

func (scripts) Beaten(reply any) (lua.Beaten, error) { return lua.ParseFairBeat(reply) }

package readwrite

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
)

// scripts are the scripts of this kind: reading holds leave room for each other. There is one queue
// for readers and writers, which differ only in the ids of their holds.
type scripts struct{ mark string }

var (
	writes = scripts{lua.Writes}
	reads  = scripts{lua.Reads}

	_ kind.Joinable = scripts{}
)

func (scripts) Family() kind.Family { return kind.ReadWrite }

func (s scripts) Mark() string { return s.mark }

func (s scripts) Reads() bool { return s.mark == lua.Reads }

func common(r kind.Request) lua.RW {
	return lua.RW{Fair: lua.Fair{Keys: r.Keys, Channel: r.Channel, Alone: r.Alone, Life: r.Life}}
}

func acquire(r kind.Request) lua.RWAcquire {
	return lua.RWAcquire{RW: common(r), Hold: r.Hold, TTL: r.TTL, Retention: r.Retention, Guard: r.Guard, Noted: r.Noted}
}

func (scripts) Acquire(r kind.Request) lua.Call { return acquire(r).Call() }

func (scripts) Acquired(reply any) (lua.Acquired, error) { return lua.ParseRWAcquired(reply) }

func (scripts) Wait(r kind.Request, ticket lua.Ticket, round int64) lua.Call {
	a := acquire(r)
	a.Wait, a.Ticket, a.Round = true, ticket, round
	return a.Call()
}

// Release notifies the waiters whose turn it is even if it should be quiet, except for the
// successor, which asks without being told.
func (scripts) Release(r kind.Request, quiet bool, mark time.Duration) lua.Call {
	release := lua.RWRelease{RW: common(r), Hold: r.Hold, Mark: mark, Undo: r.Undo, Token: r.Token, Noted: r.Noted}
	if quiet {
		release.Successor = r.Successor
	}
	return release.Call()
}

func (scripts) Released(reply any) (bool, error) { return lua.ParseReleased(reply) }

func (scripts) Yield(r kind.Request, ticket lua.Ticket, round int64) lua.Call {
	return lua.RWYield{RW: common(r), Hold: r.Hold, Ticket: ticket, Round: round}.Call()
}

func (scripts) Yielded(reply any) (int64, error) { return lua.ParseFairYielded(reply) }

func (scripts) Settle(r kind.Request) lua.Call {
	return lua.RWSettle{RW: common(r), Hold: r.Hold}.Call()
}

func (scripts) Settled(reply any) (bool, error) { return lua.ParseFairSettled(reply) }

func (scripts) Beat(r kind.Request, name string, holds []string) lua.Call {
	return lua.RWBeat{RW: common(r), Name: name, Holds: holds}.Call()
}

func (scripts) Beaten(reply any) (lua.Beaten, error) { return lua.ParseFairBeat(reply) }

func (scripts) Extend(r kind.Request, e lua.Extend, reads bool) lua.Call {
	return lua.RWExtend{
		RW: common(r), Hold: e.Hold, Count: e.Count, TTL: e.TTL, Token: e.Token, Retention: e.Retention,
		Reads: reads, Round: e.Round, Guard: e.Guard, Noted: e.Noted,
	}.Call()
}

func (scripts) Restore(r kind.Request, t lua.Restore, reads bool) lua.Call {
	return lua.RWRestore{
		RW: common(r), Hold: t.Hold, Count: t.Count, TTL: t.TTL, Token: t.Token, Retention: t.Retention,
		Reads: reads, Uptime: t.Uptime, Round: t.Round, Guard: t.Guard,
	}.Call()
}

func (scripts) Repair(r kind.Request, p lua.Repair, reads bool) lua.Call {
	return lua.RWRepair{
		RW: common(r), Hold: p.Hold, Count: p.Count, TTL: p.TTL, Token: p.Token, Retention: p.Retention,
		Reads: reads, Guard: p.Guard,
	}.Call()
}

func (scripts) Keep(r kind.Request, k lua.Keep) lua.Call {
	return lua.RWKeep{RW: common(r), Hold: k.Hold, For: k.For, Mark: k.Mark, Token: r.Token, Noted: k.Noted}.Call()
}

func (scripts) Look(r kind.Request) lua.Call {
	return lua.RWLook{RW: common(r), Hold: r.Hold}.Call()
}

func (scripts) Reserve(r kind.Request, last int64) lua.Call {
	return lua.RWReserve{RW: common(r), Hold: r.Hold, Last: last, Retention: r.Retention}.Call()
}

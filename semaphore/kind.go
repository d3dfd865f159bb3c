package semaphore

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
)

// scripts are the scripts of this kind: a hold is n of the numbered slots, and several holds have
// some at once. The hold's id contains the number of slots, so the queue needs nothing else to know
// which waiters fit.
type scripts struct{ n, permits int }

var _ kind.Numbered = scripts{}

func (scripts) Family() kind.Family { return kind.Semaphore }

func (s scripts) Mark() string { return lua.PermitMark(s.n, s.permits) }

// Reads is true, because every permit leaves room for others.
func (scripts) Reads() bool { return true }

func common(r kind.Request) lua.Permit {
	return lua.Permit{Fair: lua.Fair{Keys: r.Keys, Channel: r.Channel, Alone: r.Alone, Life: r.Life}}
}

func acquire(r kind.Request) lua.PermitAcquire {
	return lua.PermitAcquire{
		Permit: common(r), Hold: r.Hold, TTL: r.TTL, Retention: r.Retention, Guard: r.Guard, Slots: r.Slots, Noted: r.Noted,
	}
}

func (scripts) Acquire(r kind.Request) lua.Call { return acquire(r).Call() }

func (scripts) Acquired(reply any) (lua.Acquired, error) { return lua.ParsePermitAcquired(reply) }

func (scripts) Wait(r kind.Request, ticket lua.Ticket, round int64) lua.Call {
	a := acquire(r)
	a.Wait, a.Ticket, a.Round = true, ticket, round
	return a.Call()
}

// Release notifies the waiters whose turn it is even if it should be quiet, except for the
// successor, which asks without being told.
func (scripts) Release(r kind.Request, quiet bool, mark time.Duration) lua.Call {
	release := lua.PermitRelease{Permit: common(r), Hold: r.Hold, Mark: mark}
	if quiet {
		release.Successor = r.Successor
	}
	return release.Call()
}

func (scripts) Released(reply any) (bool, error) { return lua.ParseReleased(reply) }

func (scripts) Yield(r kind.Request, ticket lua.Ticket, round int64) lua.Call {
	return lua.PermitYield{Permit: common(r), Hold: r.Hold, Ticket: ticket, Round: round}.Call()
}

func (scripts) Yielded(reply any) (int64, error) { return lua.ParseFairYielded(reply) }

func (scripts) Settle(r kind.Request) lua.Call {
	return lua.PermitSettle{Permit: common(r), Hold: r.Hold}.Call()
}

func (scripts) Settled(reply any) (bool, error) { return lua.ParseFairSettled(reply) }

func (scripts) Beat(r kind.Request, name string, holds []string) lua.Call {
	return lua.PermitBeat{Permit: common(r), Name: name, Holds: holds}.Call()
}

func (scripts) Beaten(reply any) (lua.Beaten, error) { return lua.ParseFairBeat(reply) }

func (scripts) Fence(r kind.Request, token, round int64) lua.Call {
	return lua.PermitFence{
		Permit: common(r), Hold: r.Hold, Token: token, Retention: r.Retention, Slots: r.Slots, Round: round, Guard: r.Guard,
	}.Call()
}

func (scripts) Reserve(r kind.Request, after, last int64) lua.Call {
	return lua.PermitReserve{
		Permit: common(r), Hold: r.Hold, Slots: r.Slots, After: after, Last: last, Retention: r.Retention,
	}.Call()
}

func (scripts) Extend(r kind.Request, e lua.Extend, _ bool) lua.Call {
	return extension(r, e).Call()
}

func extension(r kind.Request, e lua.Extend) lua.PermitExtend {
	return lua.PermitExtend{
		Permit: common(r), Hold: r.Hold, Count: e.Count, TTL: e.TTL, Token: e.Token, Retention: r.Retention, Slots: r.Slots,
		Round: e.Round, Guard: e.Guard,
	}
}

func (scripts) Restore(r kind.Request, t lua.Restore, _ bool) lua.Call {
	return lua.PermitRestore{
		PermitExtend: extension(r, lua.Extend{Count: t.Count, TTL: t.TTL, Token: t.Token, Round: t.Round, Guard: t.Guard}),
		Uptime:       t.Uptime,
	}.Call()
}

func (scripts) Repair(r kind.Request, p lua.Repair, _ bool) lua.Call {
	return lua.PermitRepair{PermitExtend: extension(r, lua.Extend{Count: p.Count, TTL: p.TTL, Token: p.Token, Guard: p.Guard})}.Call()
}

func (scripts) Keep(r kind.Request, k lua.Keep) lua.Call {
	return lua.PermitKeep{Permit: common(r), Hold: k.Hold, For: k.For, Mark: k.Mark}.Call()
}

func (scripts) Note(r kind.Request, n lua.Note) lua.Call {
	return lua.PermitNote{Permit: common(r), Hold: n.Hold, Label: n.Label, Text: n.Text, Age: n.Age}.Call()
}

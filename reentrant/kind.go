package reentrant

import (
	"time"

	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
)

// scripts are the scripts of this kind: a caller that finds the lock free takes it, and a release
// wakes one waiter in each process.
type scripts struct{}

func (scripts) Family() kind.Family { return kind.Mutex }

func (scripts) Acquire(r kind.Request) lua.Call {
	return lua.Acquire{Keys: r.Keys, Hold: r.Hold, TTL: r.TTL, Retention: r.Retention, Guard: r.Guard, Noted: r.Noted}.Call()
}

func (scripts) Acquired(reply any) (lua.Acquired, error) { return lua.ParseAcquired(reply) }

func (scripts) Release(r kind.Request, quiet bool, mark time.Duration) lua.Call {
	return lua.Release{Keys: r.Keys, Hold: r.Hold, Quiet: quiet, Mark: mark, Undo: r.Undo, Noted: r.Noted}.Call()
}

func (scripts) Released(reply any) (bool, error) { return lua.ParseReleased(reply) }

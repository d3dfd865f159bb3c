package reentrant

import (
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
)

// kind is what is special about this lock: whoever finds it free takes it, and a
// release wakes one waiter in each process.
type kind struct{}

func (kind) Acquire(r lock.Request) lua.Call {
	return lua.Acquire{Keys: r.Keys, Hold: r.Hold, TTL: r.TTL, Retention: r.Retention, Guard: r.Guard}.Call()
}

func (kind) Acquired(reply any) (lua.Acquired, error) { return lua.ParseAcquired(reply) }

func (kind) Release(r lock.Request, quiet bool, mark time.Duration) lua.Call {
	return lua.Release{Keys: r.Keys, Hold: r.Hold, Quiet: quiet, Mark: mark, Undo: r.Undo}.Call()
}

func (kind) Released(reply any) (bool, error) { return lua.ParseReleased(reply) }

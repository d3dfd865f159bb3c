package lock

import (
	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
)

// An engine is one lock of any kind: what the packages of the kinds, such as reentrant, wrap.
// It is immutable.
type engine struct {
	client   *core
	kind     kind.Kind
	name     string
	keys     lua.Keys
	order    order
	shared   kind.Shared   // is kind, if that is one; else nil
	joinable kind.Joinable // so, too
	numbered kind.Numbered
	permits  int // of a semaphore: how many there are
	wants    int // so, too: how many of them a hold has
	set      settings
	err      error // what is wrong with the lock; every call returns it
}

// mark is the end of the ids of the lock's holds.
func (e *engine) mark() string {
	if e.shared == nil {
		return ""
	}
	return e.shared.Mark()
}

// reads reports whether a new hold leaves room for other reading holds.
func (e *engine) reads() bool { return e.shared != nil && e.shared.Reads() }

// joins reports whether a new hold can join another tenure of this process. Permits never can: each
// hold has slots of its own, and holds within a tenure follow one another.
func (e *engine) joins() bool { return e.joinable != nil && e.reads() }

// contest returns the contest of the lock's waiters. Contenders and queuers for one name are always
// in different contests.
func (e *engine) contest() contestKey {
	return contestKey{lock: e.keys.Lock, order: e.order}
}

// request is the data about the hold called id for the kind's scripts.
func (e *engine) request(id string) kind.Request {
	return kind.Request{
		Keys:      e.keys,
		Hold:      id,
		TTL:       e.set.granted(),
		Retention: e.client.retention,
		Guard:     e.client.guard,
		Life:      e.set.life(),
		Channel:   e.client.channels,
		Alone:     e.client.alone,
	}
}

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

// mark is what the ids of the lock's holds end with.
func (e *engine) mark() string {
	if e.shared == nil {
		return ""
	}
	return e.shared.Mark()
}

// reads tells whether a new hold leaves room for others that do, too.
func (e *engine) reads() bool { return e.shared != nil && e.shared.Reads() }

// joins tells whether a new hold can be within a tenure of another one of this process. Permits never are: each
// hold has slots of its own, and within a tenure follows another.
func (e *engine) joins() bool { return e.joinable != nil && e.reads() }

// contest tells which contest the lock's waiters are in. Contenders and queuers for
// one name never meet in one.
func (e *engine) contest() contestKey {
	return contestKey{lock: e.keys.Lock, order: e.order}
}

// request is what the kind's scripts are told about the hold called id.
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

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
	replies
}

// replies read the reply of a node. They are made once: to make a function of a method allocates.
type replies struct {
	granted func(reply any) (bool, error) // whether an acquisition was
	vacated func(reply any) (bool, error) // whether a release was done: the hold need not have been there
	had     func(reply any) bool          // whether the hold was there: not on a node that was not asked
}

func repliesTo(k kind.Kind) replies {
	return replies{
		granted: func(reply any) (bool, error) {
			a, err := k.Acquired(reply)
			return a.Token > 0, err
		},
		vacated: func(reply any) (bool, error) {
			_, err := k.Released(reply)
			return err == nil, err
		},
		had: func(reply any) bool {
			found, _ := k.Released(reply)
			return found
		},
	}
}

// alias is the other one of the two names that the lock's key has, with braces around it and without; see
// [lua.NewKeys]. It is part of a string that is there, and takes no memory.
func (e *engine) alias() string {
	if braced := e.keys.Lock[len(e.client.prefix)+len(":"):]; braced != e.name {
		return braced
	}
	return e.name[len("{") : len(e.name)-len("}")]
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

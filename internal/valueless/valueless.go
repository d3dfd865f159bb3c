// Package valueless has contexts that end as others do, and have none of their values. Each can
// stand for all contexts that end together.
package valueless

import "context"

// WithCancelCause returns a context that ends with parent, at the same moment and with the same
// error and cause, or when cancel is called. It does not have the parent's values.
func WithCancelCause(parent context.Context) (ctx context.Context, cancel context.CancelCauseFunc) {
	m := &mute{Context: parent}
	if f, ok := parent.(afterFuncer); ok {
		ctx, cancel = context.WithCancelCause(muteAfterFuncer{m, f})
	} else {
		ctx, cancel = context.WithCancelCause(m)
	}
	if m.key == nil {
		m.key = m // nobody may set it any more
	}
	return ctx, cancel
}

// mute is a parent without its values: those of one are not the others'. It has only what
// package context looks for when it makes a context of it: by what the parent ends.
type mute struct {
	context.Context
	key any // that package context has asked for
}

// Value implements [context.Context].
func (m *mute) Value(key any) any {
	if m.key == nil {
		m.key = key
	}
	if m.key != key {
		return nil
	}
	return m.Context.Value(key)
}

// An afterFuncer is a parent that package context did not make, and that tells of its end itself.
type afterFuncer interface {
	AfterFunc(f func()) (stop func() bool)
}

type muteAfterFuncer struct {
	*mute
	afterFuncer
}

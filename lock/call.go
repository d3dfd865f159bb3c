package lock

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// poll is the longest time that a waiter sleeps before it looks without being woken. A lost wake-up
// costs no more (I6).
const poll = 3 * time.Second

// tryTime is the time limit of a TryLock. It makes further attempts while rivals split the votes
// and nobody can have the lock: one of them should get it, and only the others should be told that
// it is locked. Silent nodes get a node timeout, and what they may have granted is given back
// within the limit.
const tryTime = time.Second

// tryPatience is the part of tryTime that is kept for giving back.
func tryPatience(nodeTimeout time.Duration) time.Duration { return min(nodeTimeout, tryTime/4) }

// A call is one call of Lock or TryLock: its owner, and its result so far.
type call struct {
	engine *engine
	ctx    context.Context
	slot   *slot
	began  time.Time
	pause  *backoff.ExponentialBackOff

	observed  context.Context // that observers have made; nil: nobody observes
	blocks    bool            // it is a Lock, and no TryLock
	shared    bool            // others may be at work for the same owner
	contended bool            // it has waited
	handover  Handover        // how the lock came
}

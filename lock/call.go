package lock

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// poll is how long a waiter sleeps at the most before it looks without being woken:
// what a lost wake-up costs (I6).
const poll = 3 * time.Second

// tryTime is the bound of a TryLock. It makes further attempts as long as rivals split the
// votes and nobody can have the lock: one of them is to get it, and only the others are to
// be told that it is locked. Nodes that are silent have a node timeout, and what they may
// have granted is given back, within the bound.
const tryTime = time.Second

// tryPatience is how much of tryTime is kept for giving back.
func tryPatience(nodeTimeout time.Duration) time.Duration { return min(nodeTimeout, tryTime/4) }

// A call is one call of Lock or TryLock: whose it is, and what has come of it so far.
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

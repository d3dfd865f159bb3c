package lock

import (
	"context"

	"github.com/holdfast-go/holdfast/redlock"
)

// Together runs all calls at once, and returns when all have. It is for calls that each take
// or release one lock under the context that they are given: what they send leaves for the
// nodes together, so that several free locks cost one round trip, and not one each. The last of
// the calls runs on the caller's goroutine.
//
// It says nothing of the order in which the locks are taken. Use package multi to take several
// locks: it waits for them in an order that has no circle.
func Together(ctx context.Context, calls ...func(context.Context)) {
	redlock.Together(ctx, calls...)
}

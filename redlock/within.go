package redlock

import (
	"context"
	"time"
)

// within runs f, which uses the user's client, for no longer than patience, or until ctx ends. A command in flight then
// continues without its caller, and nobody waits for it: a go-redis client that is reading does not heed the context.
func within[T any](ctx context.Context, patience time.Duration, f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	go func() {
		result, err := f(limited)
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		if limited.Err() == nil || o.err == nil {
			return o.result, o.err
		}
	case <-limited.Done():
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	return none, ErrSilent
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// shutTime is more than a client takes to give back what it holds. What Close waits for then are servers that are silent.
const shutTime = time.Second

// minGuard is shorter than a restart takes, and than any TTL that is of use.
const minGuard = 10 * time.Millisecond

// open connects to the servers and makes a client for locks on them. The returned function closes both.
func (a *app) open(options ...lock.ClientOption) (*lock.Client, func(), error) {
	servers, err := a.connect()
	if err != nil {
		return nil, nil, err
	}
	a.clustered = slices.ContainsFunc(servers, isCluster)
	c, err := a.locks(servers, options...)
	if err != nil {
		disconnect(servers)
		if codeOf(err) == exitNoQuorum {
			err = exit(exitNoQuorum, fmt.Errorf("%w; `holdfast doctor` tells more", err))
		}
		return nil, nil, err
	}
	return c, func() {
		bounded(shutTime, func() { _ = c.Close() }) // whatever failed to be released ends with its TTL
		disconnect(servers)
	}, nil
}

// openToLook is open for commands that take no lock. There is nothing to give back, so the end of the process closes
// the client: Close would wait for servers that are silent.
func (a *app) openToLook() (*lock.Client, error) {
	c, _, err := a.open()
	return c, err
}

// bounded runs fn, and reports whether it has ended within the limit. If not, it continues for as long as the process.
func bounded(limit time.Duration, fn func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		fn()
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-ended:
		return true
	case <-late.C:
		return false
	}
}

// openUnless is open, given up at the first signal that would end a process, and when ctx ends, with its cause: servers that
// are silent keep open for seconds. Its goroutine ends with open, or with the process, as nothing has been granted that it would
// have to give back.
func (a *app) openUnless(ctx context.Context, caught <-chan os.Signal, options ...lock.ClientOption) (c *lock.Client, closing func(), err error) {
	opened := make(chan struct{})
	var client *lock.Client
	var done func()
	var failed error
	go func() {
		defer close(opened)
		client, done, failed = a.open(options...)
	}()
	interrupted, err := interruptible(caught, func(signalled context.Context) error {
		select {
		case <-opened:
			return failed
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-signalled.Done():
			return signalled.Err()
		}
	})
	switch {
	case interrupted != nil:
		return nil, nil, interrupted
	case err != nil:
		return nil, nil, err
	}
	return client, done, nil
}

// locks makes a client for locks on these servers.
func (a *app) locks(servers []server, options ...lock.ClientOption) (*lock.Client, error) {
	switch {
	case a.prefix == "":
		return nil, usagef("--prefix is empty")
	case a.guard < 0:
		return nil, usagef("--restart-guard %v is negative", a.guard)
	case 0 < a.guard && a.guard < minGuard:
		return nil, usagef("--restart-guard %v is too short: it must be at least as long as any lock's key can live (TTL or minimum hold, plus rest)", a.guard)
	case a.guard > maxDuration:
		return nil, usagef("--restart-guard %v is more than ten years", a.guard)
	}
	if _, err := lua.NewKeys(a.prefix, "x"); err != nil {
		return nil, usagef("--prefix %q: %w", a.prefix, err)
	}
	nodes := make([]redis.UniversalClient, len(servers))
	for i, s := range servers {
		nodes[i] = s.client
	}
	common := []lock.ClientOption{lock.WithPrefix(a.prefix), lock.WithRestartGuard(a.guard)}
	if a.guard > 0 && a.guard < defaultTTL {
		common = append(common, lock.WithTTL(a.guard)) // of no lock, but the library's default would be refused
	}
	options = append(common, options...)
	if a.verbose {
		options = append(options, lock.WithLogger(slog.New(a.logHandler())))
	}
	c, err := lock.NewClient(nodes, options...)
	switch {
	case errors.Is(err, redlock.ErrDuplicateNode): // whichever servers answer
		return nil, exit(exitUsage, err)
	case err != nil:
		return nil, exit(exitNoQuorum, err)
	}
	return c, nil
}

// logHandler prints what the library logs, in the form of everything else on stderr.
func (a *app) logHandler() slog.Handler {
	if a.json {
		return slog.NewJSONHandler(a.stderr, nil)
	}
	return slog.NewTextHandler(a.stderr, nil)
}

// silent is no log.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

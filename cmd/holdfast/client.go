package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
)

// open connects to the servers and makes a client for locks on them. The returned function closes both.
func (a *app) open(options ...lock.ClientOption) (*lock.Client, func(), error) {
	servers, err := a.connect()
	if err != nil {
		return nil, nil, err
	}
	c, err := a.locks(servers, options...)
	if err != nil {
		disconnect(servers)
		if codeOf(err) == exitNoQuorum {
			err = exit(exitNoQuorum, fmt.Errorf("%w; `holdfast doctor` tells more", err))
		}
		return nil, nil, err
	}
	return c, func() {
		_ = c.Close() // whatever failed to be released ends with its TTL
		disconnect(servers)
	}, nil
}

// locks makes a client for locks on these servers.
func (a *app) locks(servers []server, options ...lock.ClientOption) (*lock.Client, error) {
	switch {
	case a.prefix == "":
		return nil, usagef("--prefix is empty")
	case a.guard < 0:
		return nil, usagef("--restart-guard %v is negative", a.guard)
	}
	nodes := make([]redis.UniversalClient, len(servers))
	for i, s := range servers {
		nodes[i] = s.client
	}
	options = append([]lock.ClientOption{lock.WithPrefix(a.prefix), lock.WithRestartGuard(a.guard)}, options...)
	if a.verbose {
		options = append(options, lock.WithLogger(slog.New(slog.NewTextHandler(a.stderr, nil))))
	}
	c, err := lock.NewClient(nodes, options...)
	if err != nil {
		return nil, exit(exitNoQuorum, err)
	}
	return c, nil
}

// silent is no log.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

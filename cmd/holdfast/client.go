package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
)

// open connects to the servers and makes a client for locks on them. The returned function closes both.
func (a *app) open(options ...lock.ClientOption) (*lock.Client, func(), error) {
	redis.SetLogger(silent{}) // it would log each dial to a server that is down
	servers, err := a.connect()
	if err != nil {
		return nil, nil, err
	}
	c, err := a.locks(servers, options...)
	if err != nil {
		disconnect(servers)
		return nil, nil, err
	}
	return c, func() {
		_ = c.Close() // whatever failed to be released ends with its TTL
		disconnect(servers)
	}, nil
}

// locks makes a client for locks on these servers.
func (a *app) locks(servers []server, options ...lock.ClientOption) (*lock.Client, error) {
	if err := checkPrefix(a.prefix); err != nil {
		return nil, err
	}
	nodes := make([]redis.UniversalClient, len(servers))
	for i, s := range servers {
		nodes[i] = s.client
	}
	options = append(options, lock.WithPrefix(a.prefix))
	if a.verbose {
		options = append(options, lock.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))))
	}
	c, err := lock.NewClient(nodes, options...)
	if err != nil {
		return nil, exit(exitNoQuorum, fmt.Errorf("%w; `holdfast doctor` tells more", err))
	}
	return c, nil
}

func checkPrefix(prefix string) error {
	if prefix == "" {
		return exit(exitUsage, errors.New("--prefix is empty"))
	}
	return nil
}

// silent is no log.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

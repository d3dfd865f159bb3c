package main

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

type rueidisLocker struct{ rueidislock.Locker }

func openRueidis(s site) (locker, error) {
	l, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{
			InitAddress: s.addrs,
			DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return dial(ctx, "tcp", addr, s.seen)
			},
		},
		KeyMajority:    1,
		KeyValidity:    s.ttl,
		NoLoopTracking: true,
		// How long an attempt may take. Its default of 20 ms fails on a busy machine.
		TryNextAfter: time.Second,
	})
	if err != nil {
		return nil, err
	}
	return rueidisLocker{l}, nil
}

func (l rueidisLocker) handle(name string) handle { return &rueidisHandle{l.Locker, name} }

func (l rueidisLocker) close() { l.Close() }

type rueidisHandle struct {
	rueidislock.Locker
	name string
}

func (h *rueidisHandle) lock(ctx context.Context) (held, error) {
	_, cancel, err := h.WithContext(ctx, h.name)
	if err != nil {
		return nil, err
	}
	return rueidisHeld(cancel), nil
}

// rueidisHeld is what releases the lock, and waits until that is done.
type rueidisHeld context.CancelFunc

func (h rueidisHeld) unlock() error {
	h()
	return nil
}

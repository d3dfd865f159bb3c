package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

const (
	// A server that is slow is not one that refuses: this is far longer than what locks wait for.
	patience     = 2 * time.Second
	tryTTL       = 10 * time.Second
	tryRetention = 20 * time.Second // of the fencing counter, which is what stays for longest
	tryWait      = 200 * time.Millisecond
	tries        = 3
	examTime     = 6 * time.Second // how long servers that have answered may take for the rest
	// clusterTime is examTime for a Cluster, one of whose servers may be silent: a client may ask that one first which
	// masters there are, dial it for that, and wait for it again when it meets all masters.
	clusterTime = 30 * time.Second
)

// isCluster reports whether s is one.
func isCluster(s server) bool {
	_, is := s.client.(*redis.ClusterClient)
	return is
}

// timeFor is how long an examination of these servers together may take.
func timeFor(servers ...server) time.Duration {
	if slices.ContainsFunc(servers, isCluster) {
		return clusterTime
	}
	return examTime
}

// tryBriefly is try, given up if the server falls silent meanwhile.
func (a *app) tryBriefly(ctx context.Context, s server, e *nodeExam) {
	tried := &nodeExam{Address: e.Address}
	if limit := timeFor(s); !bounded(limit, func() { a.try(ctx, s, tried) }) {
		e.find(wrong, "it takes longer than %v to take and give back locks", limit)
		return
	}
	e.Findings, e.grants = append(e.Findings, tried.Findings...), tried.grants
}

// maxNames bounds the names that are thought of: a master may have few slots.
const maxNames = 200_000

// trialNames returns as many names that nobody else uses, and the server that tells about them. Of a Cluster, that is the
// master at address: with names of another one, what is wrong with that would be found here. There are none if it has
// next to no slots, or if a prefix with a hash tag puts all names into another slot.
func (a *app) trialNames(ctx context.Context, s server, address string, many int) (names []string, holder redis.UniversalClient) {
	c, is := s.client.(*redis.ClusterClient)
	holder = s.client
	for range maxNames {
		name := "holdfast-doctor-" + uuid.NewString()
		if keys, err := lua.NewKeys(a.prefix, name); err == nil && is { // else taking it will tell
			master, err := c.MasterForKey(ctx, keys.Lock)
			if err == nil && master.Options().Addr != address {
				if strings.Contains(a.prefix, "{") {
					break
				}
				continue
			}
			if err == nil {
				holder = master
			}
		}
		if names = append(names, name); len(names) == many {
			return names, holder
		}
	}
	return nil, nil
}

// try does with one server what locks do, so that a missing right is found before somebody needs it.
func (a *app) try(ctx context.Context, s server, e *nodeExam) {
	trials := []struct {
		what string
		do   func(c *lock.Client, name string) error
	}{
		{"a mutex", func(c *lock.Client, name string) error { return tryLock(ctx, reentrant.New(c, name)) }},
		{"a fair mutex", func(c *lock.Client, name string) error { return tryLock(ctx, fair.New(c, name)) }},
		{"a place in a queue", func(c *lock.Client, name string) error { return tryQueue(ctx, fair.New(c, name)) }},
		{"a read-write lock", func(c *lock.Client, name string) error { return tryLock(ctx, readwrite.New(c, name)) }},
		{"a read lock", func(c *lock.Client, name string) error { return tryLock(ctx, readwrite.New(c, name).RLocker()) }},
		{"a semaphore", func(c *lock.Client, name string) error { return tryPermit(ctx, semaphore.New(c, name, 2)) }},
	}
	names, holder := a.trialNames(ctx, s, e.Address, len(trials)+1)
	if names == nil {
		return
	}
	c, err := a.locks([]server{s}, lock.WithNodeTimeout(patience), lock.WithTTL(tryTTL), lock.WithTokenRetention(tryRetention), lock.WithRestartGuard(0))
	if err != nil {
		e.find(wrong, "locks cannot use it: %v", err)
		return
	}
	defer bounded(shutTime, func() { _ = c.Close() }) // its locks have been given back
	for i, t := range trials {
		if err := t.do(c, names[i]); err != nil {
			e.find(wrong, "%s cannot be taken and given back: %v", t.what, err)
			continue
		}
		e.grants = true
	}
	a.tryMessages(ctx, holder, names[len(trials)], e)
	if err := within(ctx, func(ctx context.Context) error { return holder.Scan(ctx, 0, a.prefix+":*", 10).Err() }); err != nil {
		e.find(advice, "it refuses SCAN, which `holdfast list` and `holdfast top` need: %v", err)
	}
}

// tryMessages tries what tells waiters that it is their turn. Locks do not fail without it, so nothing else says so.
func (a *app) tryMessages(ctx context.Context, c redis.UniversalClient, name string, e *nodeExam) {
	keys, err := lua.NewKeys(a.prefix, name)
	if err != nil {
		return // as taking it has told
	}
	for _, channel := range []string{keys.Channel(), lua.ClientChannels(a.prefix) + uuid.NewString()} {
		if err := within(ctx, func(ctx context.Context) error {
			p := c.Subscribe(ctx, channel)
			defer p.Close()
			_, err := p.Receive(ctx)
			return err
		}); err != nil {
			e.find(wrong, "it does not let this user subscribe to %s, so waiters have to poll: %v", channel, err)
		}
		if err := within(ctx, func(ctx context.Context) error { return c.Publish(ctx, channel, "").Err() }); err != nil {
			e.find(wrong, "it does not let this user publish to %s, so waiters elsewhere have to poll: %v", channel, err)
		}
	}
}

func tryLock(ctx context.Context, l lock.Locker) error {
	lease, err := l.TryLock(ctx)
	if err != nil {
		return err
	}
	return lease.Unlock(ctx)
}

// tryQueue waits for a moment behind somebody else. A server that is slow has not answered by then, so it gets more
// than one try.
func tryQueue(ctx context.Context, l lock.Locker) error {
	lease, err := l.TryLock(ctx)
	if err != nil {
		return err
	}
	for range tries {
		if err = waitBriefly(ctx, l); errors.Is(err, lock.ErrLocked) {
			err = nil
			break
		}
	}
	return errors.Join(err, lease.Unlock(ctx))
}

func waitBriefly(ctx context.Context, l lock.Locker) error {
	ctx, cancel := context.WithTimeout(ctx, tryWait)
	defer cancel()
	_, err := l.Lock(ctx)
	return err
}

func tryPermit(ctx context.Context, s *semaphore.Semaphore) error {
	p, err := s.TryAcquire(ctx, 1)
	if err != nil {
		return err
	}
	return p.Release(ctx)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
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
)

// tryBriefly is try, given up if the server falls silent meanwhile.
func (a *app) tryBriefly(ctx context.Context, s server, e *nodeExam) {
	tried := new(nodeExam)
	if !bounded(examTime, func() { a.try(ctx, s, tried) }) {
		e.find(wrong, "it takes longer than %v to take and give back locks", examTime)
		return
	}
	e.Findings = append(e.Findings, tried.Findings...)
}

// try does with one server what locks do, so that a missing right is found before somebody needs it.
func (a *app) try(ctx context.Context, s server, e *nodeExam) {
	c, err := a.locks([]server{s}, lock.WithNodeTimeout(patience), lock.WithTTL(tryTTL), lock.WithTokenRetention(tryRetention), lock.WithRestartGuard(0))
	if err != nil {
		e.find(wrong, "locks cannot use it: %v", err)
		return
	}
	defer bounded(shutTime, func() { _ = c.Close() }) // its locks have been given back
	name := "holdfast-doctor-" + uuid.NewString()
	for _, t := range []struct {
		what string
		do   func() error
	}{
		{"a mutex", func() error { return tryLock(ctx, reentrant.New(c, name+"-mutex")) }},
		{"a fair mutex", func() error { return tryLock(ctx, fair.New(c, name+"-fair")) }},
		{"a place in a queue", func() error { return tryQueue(ctx, fair.New(c, name+"-queue")) }},
		{"a read-write lock", func() error { return tryLock(ctx, readwrite.New(c, name+"-write")) }},
		{"a read lock", func() error { return tryLock(ctx, readwrite.New(c, name+"-read").RLocker()) }},
		{"a semaphore", func() error { return tryPermit(ctx, semaphore.New(c, name+"-permits", 2)) }},
	} {
		if err := t.do(); err != nil {
			e.find(wrong, "%s cannot be taken and given back: %v", t.what, err)
		}
	}
	channel := fmt.Sprintf("%s:{%s}:channel", a.prefix, name)
	if err := within(ctx, func(ctx context.Context) error {
		p := s.client.Subscribe(ctx, channel)
		defer p.Close()
		_, err := p.Receive(ctx)
		return err
	}); err != nil {
		e.find(wrong, "it does not let this user subscribe to %s, so waiters have to poll: %v", channel, err)
	}
	if err := within(ctx, func(ctx context.Context) error { return s.client.Scan(ctx, 0, a.prefix+":*", 10).Err() }); err != nil {
		e.find(advice, "it refuses SCAN, which `holdfast list` and `holdfast top` need: %v", err)
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

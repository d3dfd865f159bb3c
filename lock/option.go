package lock

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// A ClientOption sets up a [Client]. No duration that is set may be longer than ten years.
type ClientOption interface{ client(*clientSettings) }

// An Option sets up one lock. It is also a [ClientOption]: the default for all locks
// of that client. No duration that is set may be longer than ten years.
type Option interface {
	ClientOption
	lock(*settings)
}

// clientSettings are those of a client, with the defaults for its locks.
type clientSettings struct {
	locks       settings
	prefix      string
	retention   time.Duration
	guard       time.Duration
	nodeTimeout time.Duration
	probePause  time.Duration // 0: nodes are not probed; for tests only
	driftFactor float64
	driftFixed  time.Duration
	logger      *slog.Logger
	label       string
	labelled    bool // by WithLabel
	observers   []Observer
	fails       func(name string) error // of package hook; nil: nothing does
}

func defaults() clientSettings {
	return clientSettings{
		locks:       settings{ttl: 30 * time.Second, renew: true, beat: 2 * time.Second},
		prefix:      "lock",
		retention:   24 * time.Hour,
		nodeTimeout: 200 * time.Millisecond,
		probePause:  time.Second,
		driftFactor: 0.01,
		driftFixed:  2 * time.Millisecond,
		label:       defaultLabel(),
	}
}

type option func(*settings)

func (o option) lock(s *settings)         { o(s) }
func (o option) client(s *clientSettings) { o(&s.locks) }

type clientOption func(*clientSettings)

func (o clientOption) client(s *clientSettings) { o(s) }

// WithTTL sets how long a lock lives on the nodes after it was last written: the
// longest that a crashed holder blocks it. The watchdog renews it every third of
// that. The default is 30 seconds.
func WithTTL(d time.Duration) Option {
	return option(func(s *settings) { s.ttl = d })
}

// WithoutWatchdog makes leases fixed: each ends after its TTL unless it is extended.
func WithoutWatchdog() Option {
	return option(func(s *settings) { s.renew = false })
}

// WithMaxHold stops the renewal of a lease for good after d, so that it ends at
// most a TTL later: a bound for work that hangs. The default, 0, is no limit.
func WithMaxHold(d time.Duration) Option {
	return option(func(s *settings) { s.maxHold = d })
}

// WithWaiterHeartbeat sets how long a crashed waiter of a fair lock, a read-write lock or a
// semaphore can hold up those behind it. Waiters give four signs of life in that time, of which
// three can fail. The default is 2 seconds. Locks of package reentrant have no queue, and do not
// use it.
func WithWaiterHeartbeat(d time.Duration) Option {
	return option(func(s *settings) { s.beat = d })
}

// WithNote sets what people are told about a hold of this lock, such as "nightly export":
// Inspect, the errors of those who wait for it, and the log show it. It must be printable, and
// no longer than 256 bytes. It is written to the nodes in the background, and lives and dies
// with the lock's key. Goroutines with different notes do not pass a lock on to each other
// within the process. Several locks of one name may have different notes, so a note can be for
// a single call:
//
//	reentrant.New(locks, "report", lock.WithNote("nightly export")).Lock(ctx)
func WithNote(note string) Option {
	return option(func(s *settings) { s.note = note })
}

// WithMinHold keeps a lock taken for at least d from its grant, even if it is unlocked sooner,
// and even if its process is gone by then. It is for work that is to be done once and takes
// less time than the clocks of those who start it are apart, such as a job which many machines
// start at the same minute: whoever comes late finds the lock taken. It does not suit locks that
// are taken together (package multi), as a part that is given back stays taken, too. A restart
// guard must be at least as long as d. The default, 0, is that an unlocked lock is free.
func WithMinHold(d time.Duration) Option {
	return option(func(s *settings) { s.minHold = d })
}

// WithRest lets a lock rest for d after a holder that did not release it: one that crashed, or
// lost its lease. Nobody has the lock meanwhile, so what that holder has sent on its way can
// arrive before the next one begins. It is for resources that cannot check fencing tokens: a
// delay makes an accident less likely, and a token prevents it. A release, and ForceUnlock,
// free the lock at once. A restart guard must be at least as long as the TTL and d together.
// The default is 0.
func WithRest(d time.Duration) Option {
	return option(func(s *settings) { s.rest = d })
}

// WithLabel sets what people are told about the process that holds a lock, beside its hold id:
// Inspect and the errors of those who wait for it show it. It must be printable, and no longer
// than 128 bytes; none is shown if it is empty. It is written to the nodes in the background,
// right behind the grant. The default is "host/process id program", and is written with the
// first renewal, so that locks that are held for a short time cost nothing for it; that of a
// fixed lease, which has no renewal, right behind the grant.
func WithLabel(label string) ClientOption {
	return clientOption(func(s *clientSettings) { s.label, s.labelled = label, true })
}

// WithNodeTimeout sets how long one node may be silent before it counts as a no. The
// default is 200 ms. It should be small against the TTL, and more than six round trips: that
// many pass when go-redis has to make a new connection first. Time for which this process is
// behind, on a machine that is busy, is added to it, up to as much again: the answer may be
// there, and not read yet.
func WithNodeTimeout(d time.Duration) ClientOption {
	return clientOption(func(s *clientSettings) { s.nodeTimeout = d })
}

// WithClockDrift sets by how much clocks may differ while a lease lasts: factor times the
// TTL, plus a fixed part. Validity is shorter than the TTL by that much. The defaults
// are 0.01 and 2 ms.
func WithClockDrift(factor float64, fixed time.Duration) ClientOption {
	return clientOption(func(s *clientSettings) { s.driftFactor, s.driftFixed = factor, fixed })
}

// WithPrefix sets what every key begins with. The default is "lock".
func WithPrefix(p string) ClientOption {
	return clientOption(func(s *clientSettings) { s.prefix = p })
}

// WithTokenRetention sets how long the fencing counter of an idle name is kept; it is
// seeded from a node's clock when it is missing. It must be longer than any TTL, and
// than the nodes' clocks are apart. The default is 24 hours.
func WithTokenRetention(d time.Duration) ClientOption {
	return clientOption(func(s *clientSettings) { s.retention = d })
}

// WithRestartGuard keeps a node from granting locks for d after its server started: a
// server that crashed may have forgotten a lock that somebody holds, and must stay out
// until every such lock has ended. d must be at least the largest TTL in use, on any
// client of the nodes; a node may stay out for a second longer. Holders keep their leases
// from the other nodes meanwhile; an error that wraps redlock.ErrRestarted tells of nodes
// that stay out, and so does Inspect. If the server came back with an old snapshot, the
// guard also has its fencing counters skip what was granted since, provided that no two nodes'
// clocks are farther apart than d.
//
// The default, 0, is no guard, as a set of fresh servers would be useless for d. In
// production turn it on, unless every node runs with appendfsync always. The check costs
// a server a few microseconds for each acquisition. It goes by INFO's uptime_in_seconds,
// which a clock that is set forward makes greater.
func WithRestartGuard(d time.Duration) ClientOption {
	return clientOption(func(s *clientSettings) { s.guard = d })
}

// WithLogger sets where the client logs what its callers do not see otherwise: nodes that go
// down, come back or are kept out, leases that are lost or renewed late, and waits that look like
// mistakes. The default is silence.
func WithLogger(l *slog.Logger) ClientOption {
	return clientOption(func(s *clientSettings) { s.logger = l })
}

// maxDrift is more than clocks that anybody would call clocks differ by.
const maxDrift = time.Hour

// check refuses settings that no client can work with.
func (s *clientSettings) check() error {
	switch {
	case s.nodeTimeout <= 0:
		return fmt.Errorf("lock: the node timeout is %v, it must be positive", s.nodeTimeout)
	case !(s.driftFactor >= 0 && s.driftFactor < 1):
		return fmt.Errorf("lock: the clock drift factor is %v, it must be at least 0 and less than 1", s.driftFactor)
	case s.driftFixed < 0:
		return fmt.Errorf("lock: the fixed clock drift is %v, it must not be negative", s.driftFixed)
	case s.driftFixed > maxDrift:
		return fmt.Errorf("lock: the fixed clock drift is %v, it must not be more than %v", s.driftFixed, maxDrift)
	case s.retention <= 0:
		return fmt.Errorf("lock: the token retention is %v, it must be positive", s.retention)
	case s.guard < 0:
		return fmt.Errorf("lock: the restart guard is %v, it must not be negative", s.guard)
	case s.prefix == "":
		return errors.New("lock: the key prefix is empty")
	}
	if err := checkText("label", s.label, maxLabel); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	for _, d := range []struct {
		what string
		is   time.Duration
	}{{"node timeout", s.nodeTimeout}, {"token retention", s.retention}, {"restart guard", s.guard}} {
		if d.is > maxDuration {
			return fmt.Errorf("lock: the %s is %v, it must not be more than %v", d.what, d.is, maxDuration)
		}
	}
	return nil
}

// WithObserver adds an observer. Several are called in the order in which they were added, and each
// gets the context that the one before has made.
func WithObserver(o Observer) ClientOption {
	return clientOption(func(s *clientSettings) { s.observers = append(s.observers, o) })
}

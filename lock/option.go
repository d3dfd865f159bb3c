package lock

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast-go/holdfast/internal/caption"
	"github.com/holdfast-go/holdfast/lua"
)

// A ClientOption configures a [Client]. No duration may be longer than ten years.
type ClientOption interface{ client(*clientSettings) }

// An Option configures one lock. It is also a [ClientOption]: the default for all locks of that
// client. No duration may be longer than ten years.
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

// WithTTL sets how long a lock lives on the nodes after it was last written: the longest time for
// which a crashed holder blocks it. The watchdog renews it every third of that time. The default is
// 30 seconds.
func WithTTL(d time.Duration) Option {
	return option(func(s *settings) { s.ttl = d })
}

// WithoutWatchdog makes leases fixed: each ends after its TTL unless it is extended.
func WithoutWatchdog() Option {
	return option(func(s *settings) { s.renew = false })
}

// WithMaxHold stops the renewal of a lease for good after d, so that it ends at most a TTL later.
// That limits work that hangs. A re-entry is a lease with a limit of its own, which begins with it: as long as
// leases of one owner overlap, the lock stays taken. The default, 0, is no limit.
func WithMaxHold(d time.Duration) Option {
	return option(func(s *settings) { s.maxHold = d })
}

// WithWaiterHeartbeat sets how long a crashed waiter of a fair lock, a read-write lock or a
// semaphore can delay the waiters behind it. Waiters send four signs of life in that time, of which
// two in a row can fail; or more, one in a TTL, if that is shorter. If the locks of one name have
// different heartbeats, the delay is three quarters of the crashed waiter's and a quarter of the next
// one's. The default is 2 seconds. Locks of package reentrant have no queue, and do not use it.
func WithWaiterHeartbeat(d time.Duration) Option {
	return option(func(s *settings) { s.beat = d })
}

// WithNote sets a text that describes a hold of this lock for people, such as "nightly export".
// Inspect, the errors of waiting calls, and the log show it. It must be printable, and no longer
// than 256 bytes. It is written to the nodes in the background, and expires with the lock's key.
// Goroutines with different notes do not pass a lock on to each other within the process. Several
// locks of one name may have different notes, so a note can be for a single call:
//
//	reentrant.New(locks, "report", lock.WithNote("nightly export")).Lock(ctx)
func WithNote(note string) Option {
	return option(func(s *settings) { s.note = note })
}

// WithMinHold keeps a lock taken for at least d from its grant, even if it is unlocked sooner, and
// even if its process is gone by then. It is for work that must be done once and takes less time
// than the clocks of its starters differ, such as a job that many machines start in the same
// minute: late starters find the lock taken. It does not suit locks that are taken together
// (package multi), because a part that is given back stays taken, too. A restart guard must be at
// least as long as d, and a rest (WithRest) together. For a re-entry it has no effect. With the default, 0, an unlocked lock is free.
//
// The grant is when the attempt has its last answer. If the key would end sooner than d after that, because d is
// not shorter than the TTL, it is extended at once, so a lock with such a d costs the nodes one command more.
func WithMinHold(d time.Duration) Option {
	return option(func(s *settings) { s.minHold = d })
}

// WithRest lets a lock rest for d after a holder that did not release it, because it crashed or
// lost its lease. Nobody has the lock meanwhile, so commands that this holder has already sent can
// arrive before the next holder begins. It is for resources that cannot check fencing tokens: a
// delay makes an accident less likely, and a token prevents it. A release, and ForceUnlock, free
// the lock at once; and so does whoever deletes its keys, by hand, FLUSHALL or eviction, as nothing is left
// then that could be kept. A restart guard must be at least as long as the TTL, or the minimum hold if that is
// longer, and d together. For a re-entry it has no effect. The default is 0.
func WithRest(d time.Duration) Option {
	return option(func(s *settings) { s.rest = d })
}

// WithLabel sets a text that identifies the process for people. [Inspector].Inspect and the errors
// of waiting calls show it beside the hold id. It must be printable, and no longer than 128 bytes;
// an empty label is not shown. It is written to the nodes in the background, right after the grant.
//
// The default is "host/process id program". It is written with the first renewal, so that short
// holds cost nothing for it. Fixed leases have no renewal, so for them it is written right after
// the grant.
func WithLabel(label string) ClientOption {
	return clientOption(func(s *clientSettings) { s.label, s.labelled = label, true })
}

// WithNodeTimeout sets how long one node may be silent before it counts as a no. The default is 200
// ms. It should be small compared with the TTL, and more than six round trips, because that many
// are needed when go-redis has to open a new connection first. If this process is late itself, on a
// busy machine, that time is added, up to one more node timeout: the answer may have arrived, but
// not been read yet.
func WithNodeTimeout(d time.Duration) ClientOption {
	return clientOption(func(s *clientSettings) { s.nodeTimeout = d })
}

// WithClockDrift sets how far clocks may drift apart during a lease: factor times the TTL, plus a
// fixed part. Validity is shorter than the TTL by that much. The defaults are 0.01 and 2 ms. The
// factor must be less than 1, and the fixed part no longer than an hour.
func WithClockDrift(factor float64, fixed time.Duration) ClientOption {
	return clientOption(func(s *clientSettings) { s.driftFactor, s.driftFixed = factor, fixed })
}

// WithPrefix sets the prefix of every key. The default is "lock". A prefix with an empty pair of braces is refused.
func WithPrefix(p string) ClientOption {
	return clientOption(func(s *clientSettings) { s.prefix = p })
}

// WithTokenRetention sets how long the fencing counter of an idle name is kept. A missing counter
// is seeded from a node's clock. The retention must be longer than any TTL, and longer than the
// difference between the nodes' clocks. The default is 24 hours.
func WithTokenRetention(d time.Duration) ClientOption {
	return clientOption(func(s *clientSettings) { s.retention = d })
}

// WithRestartGuard keeps a node from granting locks for d after its server started. A crashed
// server may have forgotten a lock that somebody holds, and must stay out until every such lock has
// ended. d must be at least the longest time that the key of any lock on the nodes can live, whichever client
// takes it: its TTL, or its minimum hold (WithMinHold) if that is longer, or a longer Extend, and its rest
// (WithRest) on top of that. Of its own locks, the client refuses those with which that would not hold. A node may
// stay out for a second longer. Meanwhile holders keep their leases from the other nodes, and from those of
// their holds that the server still has. An error that wraps redlock.ErrRestarted names the nodes
// that stay out, and so does Inspect. If the server came back with an old snapshot, the guard also
// makes its fencing counters skip the tokens that were granted since, provided that no two nodes'
// clocks differ by more than d. It does not protect from a server that has been up for longer, and
// takes over a node's address, or a failed master's place, while locks are held.
//
// The default, 0, is no guard, because a set of fresh servers would be useless for d. In
// production, turn it on, unless every node runs with appendfsync always. The check costs a server
// a few microseconds for each acquisition. It uses INFO's uptime_in_seconds, which goes by the
// server's clock: if that is set forward, the guard ends as much sooner; if it is set back while the
// server runs, the server stays out until it has caught up.
func WithRestartGuard(d time.Duration) ClientOption {
	return clientOption(func(s *clientSettings) { s.guard = d })
}

// WithLogger sets where the client logs what its callers do not see otherwise: when nodes go down,
// come back or are kept out, when leases are lost or renewed late, and when a wait looks like a
// mistake. The handler is asked and told on a goroutine of the client's, with context.Background. By
// default nothing is logged.
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
	if _, err := lua.NewKeys(s.prefix, "orders"); err != nil {
		return fmt.Errorf("lock: no lock can have keys with the prefix %q: %w", s.prefix, err)
	}
	if err := caption.Check("label", s.label, caption.MaxLabel); err != nil {
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

// WithObserver adds an observer. Several observers are called in the order in which they were
// added, and each gets the context that the previous one returned.
func WithObserver(o Observer) ClientOption {
	return clientOption(func(s *clientSettings) { s.observers = append(s.observers, o) })
}

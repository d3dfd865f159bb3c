package lock_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

// The names and signatures that programs are written against. More may be added; what
// stands here does not change, and the compiler holds it.
var (
	_ func([]redis.UniversalClient, ...lock.ClientOption) (*lock.Client, error) = lock.NewClient

	_ interface {
		Close() error
		Shutdown(ctx context.Context) error
		Health(ctx context.Context) []lock.NodeHealth
		ID() string
	} = (*lock.Client)(nil)

	_ func(time.Duration) lock.Option                = lock.WithTTL
	_ func() lock.Option                             = lock.WithoutWatchdog
	_ func(time.Duration) lock.Option                = lock.WithMaxHold
	_ func(time.Duration) lock.ClientOption          = lock.WithNodeTimeout
	_ func(float64, time.Duration) lock.ClientOption = lock.WithClockDrift
	_ func(string) lock.ClientOption                 = lock.WithPrefix
	_ func(time.Duration) lock.ClientOption          = lock.WithRestartGuard
	_ func(*slog.Logger) lock.ClientOption           = lock.WithLogger
	_ func(lock.Observer) lock.ClientOption          = lock.WithObserver
	_ lock.ClientOption                              = lock.Option(nil) // the default of a client's locks

	_ func(context.Context, *lock.Client, string) iter.Seq2[lock.Entry, error] = lock.List

	_ func(context.Context) context.Context     = lock.WithOwner
	_ func(context.Context) context.Context     = lock.WithoutOwner
	_ func(context.Context) context.Context     = lock.EnsureOwner
	_ func(context.Context) (*lock.Lease, bool) = lock.FromContext
	_ func(context.Context, string) bool        = lock.Holds

	_ error = lock.ErrLocked
	_ error = lock.ErrLost
	_ error = lock.ErrNotHeld
	_ error = lock.ErrReleased
	_ error = lock.ErrClosed
	_ error = (*lock.AcquireError)(nil)
	_ error = (*lock.LeaseError)(nil)
	_ error = lock.ErrNoQuorum
	_ error = lock.ErrRestarted
	_ error = redlock.ErrNoQuorum
	_ error = (*redlock.NoQuorumError)(nil)
)

// locker is what every kind of mutex is: a Locker may have no method more, or another
// program's implementation of it would break.
type locker interface {
	Name() string
	Lock(ctx context.Context) (*lock.Lease, error)
	TryLock(ctx context.Context) (*lock.Lease, error)
	Do(ctx context.Context, fn func(context.Context) error) error
}

type inspector interface {
	Inspect(ctx context.Context) (lock.State, error)
	ForceUnlock(ctx context.Context) (bool, error)
}

var (
	_ locker         = lock.Locker(nil)
	_ lock.Locker    = locker(nil)
	_ inspector      = lock.Inspector(nil)
	_ lock.Inspector = inspector(nil)
)

var _ interface {
	Name() string
	ID() string
	Token() int64
	Count() int
	Deadline() time.Time
	Context(parent context.Context) context.Context
	Done() <-chan struct{}
	Err() error
	Extend(ctx context.Context, ttl time.Duration) error
	Unlock(ctx context.Context) error
} = (*lock.Lease)(nil)

// The fields that programs read.
var (
	_ = func(s lock.State) (held bool, holder string, count int, ttl time.Duration, token int64, queue []string, nodes []lock.NodeState) {
		return s.Held, s.Holder, s.Count, s.TTL, s.Token, s.Queue, s.Nodes
	}
	_ = func(n lock.NodeState) (address string, reachable bool, holder string, count int, ttl time.Duration, token int64, err error) {
		return n.Address, n.Reachable, n.Holder, n.Count, n.TTL, n.Token, n.Err
	}
	_ = func(e lock.Entry) (name string, state lock.State) { return e.Name, e.State }
	_ = func(e lock.LeaseError) (op, name, hold string, err error, reason lock.Reason, last error) {
		return e.Op, e.Name, e.Hold, e.Err, e.Reason, e.Last
	}
	_ = func(e redlock.NoQuorumError) (nodes []redlock.NodeAnswer) { return e.Nodes }
	_ = func(n redlock.NodeAnswer) (address string, agreed bool, err error) { return n.Address, n.Agreed, n.Err }
)

// One fact, one sentinel: none of them is another.
func TestErrorsAreToldApart(t *testing.T) {
	sentinels := []error{lock.ErrLocked, lock.ErrLost, lock.ErrNotHeld, lock.ErrReleased, lock.ErrClosed, redlock.ErrNoQuorum}
	for i, err := range sentinels {
		require.NotEmpty(t, err.Error())
		for j, other := range sentinels {
			require.Equal(t, i == j, errors.Is(err, other), "%v is %v", err, other)
		}
	}
}

func TestErrorsOfNodesHaveNamesHere(t *testing.T) {
	require.Equal(t, redlock.ErrNoQuorum, lock.ErrNoQuorum)
	require.Equal(t, redlock.ErrRestarted, lock.ErrRestarted)
}

func TestErrorOfAcquiringIsAllThatItNames(t *testing.T) {
	refused := &redlock.NoQuorumError{Op: "acquire", Need: 2, Agreed: 1, Nodes: []redlock.NodeAnswer{
		{Address: "a:1", Agreed: true},
		{Address: "b:2", Err: redlock.ErrSilent},
		{Address: "c:3"},
	}}
	var err error = &lock.AcquireError{Name: "orders", Err: context.DeadlineExceeded, Last: refused}
	for _, is := range []error{context.DeadlineExceeded, redlock.ErrNoQuorum, redlock.ErrSilent} {
		require.ErrorIs(t, err, is)
	}
	var typed *redlock.NoQuorumError
	require.ErrorAs(t, err, &typed)
	for _, part := range []string{"orders", "1 of 3", "2 needed", "a:1: yes", "b:2: " + redlock.ErrSilent.Error(), "c:3: no"} {
		require.ErrorContains(t, err, part)
	}
}

func TestZeroLeaseHoldsNothing(t *testing.T) {
	var zero lock.Lease
	require.Empty(t, zero.Name())
	require.Empty(t, zero.ID())
	require.Zero(t, zero.Token())
	require.Zero(t, zero.Count())
	require.True(t, zero.Deadline().IsZero())
	select {
	case <-zero.Done():
	default:
		t.Error("it is over from the start")
	}
	require.ErrorIs(t, zero.Err(), lock.ErrNotHeld)
	require.ErrorIs(t, zero.Extend(t.Context(), time.Second), lock.ErrNotHeld)
	require.ErrorIs(t, zero.Unlock(t.Context()), lock.ErrNotHeld)
	ctx := zero.Context(t.Context())
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.ErrorIs(t, context.Cause(ctx), lock.ErrNotHeld)
}

func TestScopeKeepsWhatItsContextIs(t *testing.T) {
	type key struct{}
	parent, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Hour)
	scope := lock.WithOwner(parent)
	require.Equal(t, "value", scope.Value(key{}))
	want, _ := parent.Deadline()
	got, _ := scope.Deadline()
	require.Equal(t, want, got)
	require.NoError(t, scope.Err())
	cancel()
	require.ErrorIs(t, scope.Err(), context.Canceled)
}

// Somebody reads these, and knows what to do.
func TestAnAcquireErrorReadsWell(t *testing.T) {
	ended := context.DeadlineExceeded
	for want, e := range map[string]lock.AcquireError{
		`lock "a": context deadline exceeded`:                                                                          {Err: ended, Waited: time.Microsecond},
		`lock "a": context deadline exceeded after 1.235s`:                                                             {Err: ended, Waited: 1234567 * time.Microsecond},
		`lock "a": locked by another owner; held by b:1`:                                                               {Err: lock.ErrLocked, Holder: "b:1"},
		`lock "a": locked by another owner; held by b:1 (this client), which ends in 2s unless renewed`:                {Err: lock.ErrLocked, Holder: "b:1", Own: true, TTL: 2 * time.Second},
		`lock "a": locked by another owner; held by b:1 (web-3 for 4.1s: export), whose key has no TTL`:                {Err: lock.ErrLocked, Holder: "b:1", TTL: -1, Label: "web-3", HeldFor: 4096 * time.Millisecond, Note: "export"},
		`lock "a": locked by another owner; held by b:1 (export)`:                                                      {Err: lock.ErrLocked, Holder: "b:1", Note: "export"},
		`lock "a": locked by another owner; held by b:1 (web-3)`:                                                       {Err: lock.ErrLocked, Holder: "b:1", Label: "web-3"},
		`lock "a": locked by another owner; held by b:1, which is over and keeps it for another 1.5s`:                  {Err: lock.ErrLocked, Holder: "b:1 lingers", TTL: 1500 * time.Millisecond},
		`lock "a": ` + lock.ErrKind.Error() + `; held by b:1`:                                                          {Err: lock.ErrKind, Waited: time.Second, Holder: "b:1"},
		`lock "a": context deadline exceeded; last attempt: split`:                                                     {Err: ended, Last: errors.New("split")},
		`lock "a": context deadline exceeded; cut off while asking again, without an answer from n1, n2`:               {Err: ended, Silent: []string{"n1", "n2"}},
		`lock "a": context deadline exceeded; last attempt: no; cut off while asking again, without an answer from n1`: {Err: ended, Last: errors.New("no"), Silent: []string{"n1"}},
	} {
		e.Name = "a"
		require.Equal(t, want, e.Error())
	}
}

func TestAnotherKindIsNotAnotherOwner(t *testing.T) {
	for _, wrong := range []error{lock.ErrKind, lock.ErrUpgrade} {
		require.NotErrorIs(t, &lock.AcquireError{Name: "orders", Holder: "a:1", Err: wrong}, lock.ErrLocked)
	}
}

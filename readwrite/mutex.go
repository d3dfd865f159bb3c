package readwrite

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// A Mutex is a reentrant lock across processes and machines that either many readers or one writer
// may hold, served in order of arrival. Lock, TryLock and Do write; RLock, TryRLock and RDo read.
// It is safe for concurrent use, and holds no state: any number of Mutexes may stand for one name.
// The zero value is not usable; use [New].
type Mutex struct{ writer, reader engine.Engine }

var (
	_ lock.Locker    = (*Mutex)(nil)
	_ lock.Inspector = (*Mutex)(nil)
)

func init() { engine.Wraps(func(m *Mutex) engine.Engine { return m.writer }) }

// New returns the mutex called name. It talks to no node; an invalid name or option is the error of
// every call. Locks with the same name on the same nodes exclude each other, in all processes.
func New(c *lock.Client, name string, opts ...lock.Option) *Mutex {
	return &Mutex{writer: engine.New(c, writes, name, opts), reader: engine.New(c, reads, name, opts)}
}

// Name is the name given to New.
func (m *Mutex) Name() string { return m.writer.Name() }

// Lock blocks until the write lock is held or ctx is done. If ctx carries an owner that already
// writes (it comes from [lock.Lease.Context] or [lock.WithOwner]), Lock re-enters. If that owner
// only reads, the error wraps [lock.ErrUpgrade]. ctx limits only the wait. Unless an argument or
// option is invalid, the error is a [*lock.AcquireError].
func (m *Mutex) Lock(ctx context.Context) (*lock.Lease, error) { return m.writer.Lock(ctx) }

// TryLock takes the write lock if nobody has the mutex or waits for it, and always returns within a
// second. The error wraps [lock.ErrLocked] if others have the mutex or wait for it,
// [lock.ErrUpgrade] if ctx's owner reads, and [lock.ErrNoQuorum] if too few nodes can be asked.
func (m *Mutex) TryLock(ctx context.Context) (*lock.Lease, error) { return m.writer.TryLock(ctx) }

// Do runs fn under the write lock: Lock, fn with the lease's context, Unlock. It returns fn's
// error itself, or joined with [lock.ErrLost] if the lease was lost meanwhile.
func (m *Mutex) Do(ctx context.Context, fn func(context.Context) error) error {
	return m.writer.Do(ctx, fn)
}

// RLock blocks until the read lock is held or ctx is done. An owner that already reads or writes
// re-enters. If it ends its last lease to write before the lease that RLock returns, it continues
// to read without a gap. ctx limits only the wait. Unless an argument or option is invalid, the
// error is a [*lock.AcquireError].
func (m *Mutex) RLock(ctx context.Context) (*lock.Lease, error) { return m.reader.Lock(ctx) }

// TryRLock takes the read lock if nobody writes or waits to write, and always returns within a
// second. Another process counts as a writer for up to 50 ms after it has written. The error wraps
// [lock.ErrLocked] if somebody writes or waits to write, and [lock.ErrNoQuorum] if too few nodes
// can be asked.
func (m *Mutex) TryRLock(ctx context.Context) (*lock.Lease, error) { return m.reader.TryLock(ctx) }

// RDo runs fn under the read lock: RLock, fn with the lease's context, Unlock. It returns fn's
// error itself, or joined with [lock.ErrLost] if the lease was lost meanwhile.
func (m *Mutex) RDo(ctx context.Context, fn func(context.Context) error) error {
	return m.reader.Do(ctx, fn)
}

// RLocker returns the mutex as a [lock.Locker] whose Lock, TryLock and Do are m's RLock, TryRLock
// and RDo. It is a [lock.Inspector], too.
func (m *Mutex) RLocker() lock.Locker { return m.reader }

// Inspect tells which processes read, write, or wait for either, as a quorum of nodes sees it. A
// process whose goroutines read and write in turn is shown as one hold that writes.
func (m *Mutex) Inspect(ctx context.Context) (lock.State, error) { return m.writer.Inspect(ctx) }

// ForceUnlock ends every hold on every node, of readers and writers, whoever it belongs to, and
// reports whether one of them held the mutex or may have held it. It is an operator's tool: a
// holder in another process learns of it with its next renewal.
func (m *Mutex) ForceUnlock(ctx context.Context) (bool, error) { return m.writer.ForceUnlock(ctx) }

// ForceUnlockHold is ForceUnlock for the hold with this id alone: the hold that was looked at, not
// a later one. Goroutines of one process that read, or read and write in turn, share a hold on the
// nodes: ForceUnlockHold ends all of them.
func (m *Mutex) ForceUnlockHold(ctx context.Context, hold string) (bool, error) {
	return m.writer.ForceUnlockHold(ctx, hold)
}

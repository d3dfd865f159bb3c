package readwrite

import (
	"context"

	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// A Mutex is a reentrant lock across processes and machines that many may hold to read or one to write, served
// in the order of their arrival. Lock, TryLock and Do write; RLock, TryRLock and RDo read. It is safe for
// concurrent use, and holds no state of its own: any number of them may stand for one name. The zero
// value is not usable; use [New].
type Mutex struct{ writer, reader engine.Engine }

var (
	_ lock.Locker    = (*Mutex)(nil)
	_ lock.Inspector = (*Mutex)(nil)
)

func init() { engine.Wraps(func(m *Mutex) engine.Engine { return m.writer }) }

// New makes the mutex called name. It talks to no node; what is wrong with name or
// opts is the error of the first call. Locks with the same name on the same nodes, in
// whatever process, exclude each other.
func New(c *lock.Client, name string, opts ...lock.Option) *Mutex {
	return &Mutex{writer: engine.New(c, writes, name, opts), reader: engine.New(c, reads, name, opts)}
}

// Name is the name that the mutex was made with.
func (m *Mutex) Name() string { return m.writer.Name() }

// Lock blocks until the mutex is held to write or ctx is done. If ctx carries an owner that writes
// already - it comes from [lock.Lease.Context] or [lock.WithOwner] - Lock re-enters; if that owner only reads, the
// error wraps [lock.ErrUpgrade]. ctx bounds the wait only. The error is a [*lock.AcquireError].
func (m *Mutex) Lock(ctx context.Context) (*lock.Lease, error) { return m.writer.Lock(ctx) }

// TryLock takes the mutex to write if nobody has it or waits for it, and returns within a second
// in any case. The error wraps [lock.ErrLocked] when others have the mutex or wait for it,
// [lock.ErrUpgrade] when ctx's owner reads, and [lock.ErrNoQuorum] when too few nodes can be asked.
func (m *Mutex) TryLock(ctx context.Context) (*lock.Lease, error) { return m.writer.TryLock(ctx) }

// Do runs fn while it writes: Lock, fn with the lease's context, Unlock. It returns
// fn's error, joined with [lock.ErrLost] if the lease was lost meanwhile.
func (m *Mutex) Do(ctx context.Context, fn func(context.Context) error) error {
	return m.writer.Do(ctx, fn)
}

// RLock blocks until the mutex is held to read or ctx is done. An owner that reads or writes already
// re-enters; if it ends its last lease to write before the one that RLock returns, it goes on reading without a gap.
// ctx bounds the wait only. The error is a [*lock.AcquireError].
func (m *Mutex) RLock(ctx context.Context) (*lock.Lease, error) { return m.reader.Lock(ctx) }

// TryRLock takes the mutex to read if nobody writes or waits to write, and returns within a second
// in any case. Another process counts as one that writes for up to 50 ms after it has. The error wraps [lock.ErrLocked] when somebody does, and [lock.ErrNoQuorum] when too few nodes
// can be asked.
func (m *Mutex) TryRLock(ctx context.Context) (*lock.Lease, error) { return m.reader.TryLock(ctx) }

// RDo runs fn while it reads: RLock, fn with the lease's context, Unlock. It returns
// fn's error, joined with [lock.ErrLost] if the lease was lost meanwhile.
func (m *Mutex) RDo(ctx context.Context, fn func(context.Context) error) error {
	return m.reader.Do(ctx, fn)
}

// RLocker is the mutex as a [lock.Locker] whose Lock, TryLock and Do are m's RLock, TryRLock and RDo. It is
// a [lock.Inspector], too.
func (m *Mutex) RLocker() lock.Locker { return m.reader }

// Inspect tells who reads, who writes and who waits for either, as a quorum of nodes sees it: which processes do. Of
// those that one process lets read and write in turn, it is one hold that writes.
func (m *Mutex) Inspect(ctx context.Context) (lock.State, error) { return m.writer.Inspect(ctx) }

// ForceUnlock ends every hold that any node has, those that read as well as one that writes, whoever it
// belongs to, and tells whether somebody had the mutex by one, or may have had. It is an operator's tool: a holder
// elsewhere learns of it with its next renewal.
func (m *Mutex) ForceUnlock(ctx context.Context) (bool, error) { return m.writer.ForceUnlock(ctx) }

// ForceUnlockHold is ForceUnlock for the hold with this id alone: the one that was looked at,
// and not one that has come since. Those that read within one process, or read and write in turn, share a hold on
// the nodes: it ends all of them.
func (m *Mutex) ForceUnlockHold(ctx context.Context, hold string) (bool, error) {
	return m.writer.ForceUnlockHold(ctx, hold)
}

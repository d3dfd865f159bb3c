package locktest

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/hook"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// A Fake is a set of Redis nodes in memory with lock clients, for one test. Methods that change it
// end the test if they cannot do what they promise. So call them on the test's goroutine, as you
// would call testing.T.FailNow; Client and Waiters are safe for concurrent use. A Fake must not be
// copied, and the zero value is not usable; use [New].
type Fake struct {
	// Immutable.
	t       testing.TB
	bubble  bool // time is that of a bubble
	nodes   []*virtual.Node
	program *process // of Client
	ledger  *ledger

	mu        sync.Mutex
	processes []*process
	elsewhere *process // of Hold; nil: nobody has held anything
}

// patience is the node timeout in real time. A machine that runs many tests at once is busy, and
// the tests must not fail because of that.
const patience = 2 * time.Second

// A process is a lock client on a host of its own.
type process struct {
	host  *virtual.Host
	locks *lock.Client
}

// New creates a Fake with one node. The options are for [Fake.Client].
func New(t testing.TB, opts ...lock.ClientOption) *Fake {
	t.Helper()
	return NewN(t, 1, opts...)
}

// NewN creates a Fake with n independent nodes, of which a quorum must agree.
func NewN(t testing.TB, n int, opts ...lock.ClientOption) *Fake {
	t.Helper()
	n = max(n, 0) // which a client refuses
	f := &Fake{t: t, bubble: inBubble(), ledger: newLedger()}
	if f.bubble {
		f.nodes = virtual.StartN(t, n)
	} else {
		f.nodes = virtual.StartInRealTime(t, n)
	}
	t.Cleanup(f.end)
	f.program = f.instance(opts)
	return f
}

// inBubble reports whether the caller is in a bubble of synctest.
func inBubble() (in bool) {
	defer func() { in = recover() == nil }() // Wait panics outside of one
	synctest.Wait()
	return true
}

// Client is the lock client of the program under test.
func (f *Fake) Client() *lock.Client { return f.program.locks }

// NewClient returns the lock client of another process: a second instance of the program, or
// another program that holds a lock other than a mutex:
//
//	lease, err := readwrite.New(f.NewClient(), "config").RLock(ctx)
//
// Its leases must be unlocked, too.
func (f *Fake) NewClient(opts ...lock.ClientOption) *lock.Client {
	f.t.Helper()
	return f.instance(opts).locks
}

// Redis returns a client for each node, for a program that calls lock.NewClient itself. That
// program is in the same process as Fake.Client. The Fake knows nothing of its locks: its leases
// are not checked at the end, FailNext and Waiters do not concern it, and Lose refuses it.
func (f *Fake) Redis() []redis.UniversalClient { return f.program.host.Connect() }

// instance starts a process to which FailNext applies.
func (f *Fake) instance(opts []lock.ClientOption) *process {
	f.t.Helper()
	fails := hook.Provided.Fails(f.ledger.fail).(lock.ClientOption)
	return f.process(slices.Concat(opts, []lock.ClientOption{fails}))
}

// process starts a process.
func (f *Fake) process(opts []lock.ClientOption) *process {
	f.t.Helper()
	p := &process{host: virtual.NewHost(f.nodes)}
	p.host.CheckIdle()
	f.mu.Lock()
	f.processes = append(f.processes, p)
	f.mu.Unlock()
	var all []lock.ClientOption
	if !f.bubble {
		all = append(all, lock.WithNodeTimeout(patience))
	}
	locks, err := lock.NewClient(p.host.Connect(), append(append(all, opts...), lock.WithObserver(f.ledger.observer(p.host)))...)
	if err != nil {
		f.t.Fatalf("locktest: %v", err)
	}
	p.locks = locks
	return p
}

// end checks and closes everything. The nodes are closed after it.
func (f *Fake) end() {
	f.t.Helper()
	f.ledger.check(f.t)
	f.ledger.checkFailures(f.t)
	f.mu.Lock()
	processes := f.processes
	f.mu.Unlock()
	for _, p := range processes {
		if p.locks != nil {
			_ = p.locks.Close() // nodes may be down
		}
		p.host.Close()
	}
}

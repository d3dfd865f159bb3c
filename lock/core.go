package lock

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-go/holdfast/redlock"
	"github.com/holdfast-go/holdfast/waiter"
	"github.com/holdfast-go/holdfast/watchdog"
)

// cacheLine is what processors exchange at once, as a rule.
const cacheLine = 64

// A core is what all locks of a client share: the connections to the nodes, the schedule, the
// settings, and who has or wants which name. [Client] is the part that users see.
type core struct {
	// Immutable.
	id        string // begins the id of each of this client's holds
	group     *redlock.Group
	hub       *waiter.Hub
	watchdog  *watchdog.Watchdog
	locks     settings
	prefix    string
	retention time.Duration
	guard     time.Duration
	journal   *journal
	audience  *audience // nil: nobody observes
	tasks     tasks
	label     string                  // of this process, for people
	labelled  bool                    // it was set, and is not the default
	channels  string                  // what the Pub/Sub channels of clients begin with
	alone     bool                    // no node is a Cluster
	fails     func(name string) error // an acquisition, in a test; nil: none does
	closing   chan struct{}           // closed by drain, with mu held: nothing is granted any more, and every wait ends
	idle      chan struct{}           // closed when drained, and nothing is held
	gone      chan struct{}           // closed when Close has done what it does at the nodes
	newcomers chan struct{}           // a slot for each queuer that asks for the first time
	returners chan struct{}           // and for each that asks again
	begun     func()                  // called with mu held when something is held: the probe begins then, which is of a higher room

	backs atomic.Uint32   // how often a node has come back, which may have forgotten what it had
	given []atomic.Uint32 // by node: how often it was given a hold that it lacked

	// Every call writes what follows. Apart from it, what is above stays in the caches of all processors.
	_       [cacheLine]byte
	numbers atomic.Int64 // of holds
	calls   tally        // calls that Close waits for
	_       [cacheLine]byte

	mu       sync.Mutex
	closed   bool
	held     int                     // names
	cut      int                     // how many Close found held
	contests map[contestKey]*contest // the names that this process holds or wants
	queuers  map[string]*place       // by hold id: waiters in queues on the nodes
	shared   map[string]*tenure      // by hold id: tenures that goroutines of this process share
	listens  *waiter.Subscription
}

// tasks are the trace tasks of holds that began while a trace was recorded. The zero value is empty
// and ready to use.
type tasks struct {
	of sync.Map
	n  atomic.Int64 // how many there are: as a rule none, and nothing is looked up
}

// enter begins a call that Close waits for, unless the client is closed.
func (c *core) enter() error {
	if !c.calls.enter() {
		return ErrClosed
	}
	return nil
}

func (c *core) leave() { c.calls.leave() }

// newID returns a unique id for a hold. Its end tells the kind.
func (c *core) newID(mark string) string {
	id := append(make([]byte, 0, 64), c.id...)
	id = append(id, ':')
	return string(append(strconv.AppendInt(id, c.numbers.Add(1), 10), mark...))
}

// made reports whether this client created the hold id.
func (c *core) made(id string) bool {
	return strings.HasPrefix(id, c.id)
}

// drain ends every wait, and prevents further grants. Called with mu held.
func (c *core) drain() {
	if c.drains() {
		return
	}
	close(c.closing)
	if c.held == 0 {
		close(c.idle)
	}
}

// drains reports whether nothing is granted any more. Without mu, the answer may be old at once.
func (c *core) drains() bool { return isClosed(c.closing) }

// taken and freed count the names that this client has. Called with mu held.
func (c *core) taken() {
	c.held++
	c.begun()
}

func (c *core) freed() {
	if c.held--; c.held == 0 && c.drains() {
		close(c.idle)
	}
}

package redlock

import (
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxFlight bounds a flight, so that no command waits until more than a few thousand others
	// have been read, and a stuck node holds no more than that.
	maxFlight = 1024
	// maxWidth bounds the flights in progress to one node, and so the connections: with that many,
	// a command waits for a sixteenth of a round trip.
	maxWidth = 16
	// nearTrip is a round trip so short that a second flight beside the first would
	// cost more, in smaller pipelines, than the wait. To farther nodes a flight may
	// leave every minGap.
	nearTrip = time.Millisecond
	minGap   = 250 * time.Microsecond
	// crowd is the number of commands from which a second flight to a near node is worth it: the
	// node works on one flight while this process reads the answers to the other.
	crowd = 16
	// maxBeside bounds each of two flights to a near node. Two full ones would keep it busy for so
	// long that the commands of the second one time out before it gets to them.
	maxBeside = 256
	// telling is the maximum number of commands in a flight that shows how far away the node is.
	// Hundreds keep it busy for a millisecond, wherever it is.
	telling = 16
	// enough is the number of measured flights that distinguishes a far node from a busy one.
	enough = 16
	// periodLength is the time after which a node that has moved away is noticed.
	periodLength = 15 * time.Second
)

// A window is the in-flight window of one node: everything on its way there and back. It is guarded
// by the lane's mu.
type window struct {
	flights map[*flight]struct{}
	spare   *flight // to be used again; nil: none
	large   int     // flights of more than maxBeside
	limit   int     // of width: what the client's connections allow
	width   int     // how many flights may be away at once, stuck ones and crowds aside

	last   time.Time     // when a flight last left
	trip   time.Duration // the shortest round trip of this period and the one before
	trips  int           // how many were measured, up to enough
	near   bool          // for sure, and not long ago: a crowd need not wait
	period period

	// keys are the keys of the commands in indexed flights. A flight is indexed as soon as another
	// may be sent beside it.
	keys map[string]inFlight
}

// A period is a time over which round trips are measured.
type period struct {
	start  time.Time
	best   time.Duration // the shortest round trip in it; 0: none yet
	before time.Duration // that of the period before
}

// inFlight counts the commands in flight about one key.
type inFlight struct {
	commands  int
	creations int       // commands that create the key
	last      time.Time // when the last of them left
}

// A flight is one pipeline on its way to the node and back.
type flight struct {
	ops      []*op
	start    time.Time
	beside   bool        // another was away at the same time
	indexed  bool        // in window.keys
	stuck    bool        // every op has timed out
	here     bool        // on a caller's goroutine
	conn     *redis.Conn // it goes over this one; nil: over any of the client's
	sticks   bool        // it has its lane's sticky connection, or would have it
	silence  error       // why the node did not answer; nil: it did, or was not asked
	answered bool        // the node has answered a command, if only to refuse it

	exchange       // what node.fly sends
	sent     []*op // whose calls those are
	unsettled
}

// unsettled is what a flight leaves to be done.
type unsettled struct {
	owed  []*op       // removals that are not confirmed
	moves []move      // ops that continue on another lane
	stale *redis.Conn // that goes back to the pool; nil: none
}

// landing is how a flight ended.
type landing uint8

const (
	unsent   landing = iota // there was nothing to send any more
	answered                // by the node, to every command
	failed
)

func newWindow(connections int) window {
	return window{
		flights: make(map[*flight]struct{}),
		limit:   max(1, min(maxWidth, connections/2)), // the user needs some too
		width:   1,
		keys:    make(map[string]inFlight),
	}
}

// trip is the shortest round trip to the node of late; 0: not known.
func (l *lane) trip() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.window.trip
}

// splits reports whether a crowd may be sent beside the current flight.
func (a *window) splits() bool { return a.near && a.large == 0 && a.limit > 1 }

// blocks reports whether o has to wait for an indexed flight that carries its key, or for how long,
// if it need not wait for the landing. On the way to a far node, a creation may follow a removal
// that was sent well before it, and will not overtake it. If it does overtake, the node refuses it,
// and no harm is done.
func (a *window) blocks(o *op, now time.Time) (blocked bool, wait time.Duration) {
	if len(a.keys) == 0 {
		return false, 0
	}
	k := a.keys[o.key()]
	if k.commands == 0 {
		return false, 0
	}
	if !o.ballot.motion.Creates || k.creations > 0 || a.width == 1 {
		return true, 0
	}
	return false, k.last.Add(a.trip / 8).Sub(now)
}

// board splits a queue into the ops that can be sent now, up to a maximum, which keep its array,
// and those that have to wait.
func (a *window) board(queue []*op, most int) (ops, rest []*op) {
	a.index()
	if len(a.keys) == 0 {
		n := min(len(queue), most)
		if rest = queue[n:]; len(rest) == 0 {
			rest = nil
		}
		return queue[:n:n], rest
	}
	var left map[string]bool // keys of rest, which nothing may overtake
	now := time.Now()
	ops = queue[:0]
	for i, o := range queue {
		if len(ops) == most {
			rest = append(rest, queue[i:]...)
			break
		}
		if blocked, wait := a.blocks(o, now); !blocked && wait <= 0 && !left[o.key()] {
			ops = append(ops, o)
			continue
		}
		if left == nil {
			left = make(map[string]bool)
		}
		left[o.key()] = true
		rest = append(rest, o)
	}
	clear(queue[len(ops):])
	return ops, rest
}

// wait returns how long to wait until the next flight should be sent beside the current ones: if
// all commands were sent at once, later ones would wait for all of them to land.
func (a *window) wait(now time.Time) time.Duration {
	if a.width == 1 {
		return 0
	}
	return a.last.Add(a.trip / time.Duration(2*a.width)).Sub(now)
}

// depart makes a flight of ops.
func (a *window) depart(ops []*op) *flight {
	f := a.spare
	if a.spare = nil; f == nil {
		f = new(flight)
	}
	f.ops, f.start = ops, time.Now()
	a.last = f.start
	for other := range a.flights {
		if !other.stuck {
			f.beside, other.beside = true, true
		}
	}
	a.flights[f] = struct{}{}
	if len(ops) > maxBeside {
		a.large++
	}
	return f
}

// land records that f is over.
func (a *window) land(f *flight, end landing) {
	delete(a.flights, f)
	if len(f.ops) > maxBeside {
		a.large--
	}
	a.release(f)
	if f.stuck {
		return
	}
	defer a.keep(f)
	if end != answered {
		return
	}
	now := time.Now()
	trip := now.Sub(f.start)
	// A flight that is back that soon went to a near node, whatever it carried. A flight beside a
	// crowd may have waited for it.
	if trip < nearTrip || len(f.ops) <= telling && (a.width > 1 || !f.beside) {
		a.measure(trip, now)
	}
	a.width, a.near = 1, false
	switch {
	case a.trips < enough:
	case a.trip >= nearTrip:
		a.width = min(a.limit, int(a.trip/minGap))
	default:
		a.near = now.Sub(a.period.start) < 2*periodLength
	}
}

// room returns an empty queue.
func (a *window) room() []*op {
	if a.spare == nil {
		return nil
	}
	ops := a.spare.ops
	a.spare.ops = nil
	return ops
}

// keep stores f and its arrays for reuse.
func (a *window) keep(f *flight) {
	clear(f.ops)
	clear(f.sent)
	*f = flight{ops: f.ops[:0], exchange: f.emptied(), sent: f.sent[:0]}
	a.spare = f
}

// stick records that f is stuck: nothing waits for it any more.
func (a *window) stick(f *flight) {
	f.stuck = true
	a.release(f)
}

// measure records the time of one flight. It includes other work of the node and this process, so
// only the shortest times show how far away the node is.
func (a *window) measure(trip time.Duration, now time.Time) {
	p := &a.period
	if now.Sub(p.start) >= periodLength {
		*p = period{start: now, before: p.best}
	}
	if p.best == 0 || trip < p.best {
		p.best = trip
	}
	if a.trip = p.best; p.before > 0 {
		a.trip = min(p.best, p.before)
	}
	a.trips = min(a.trips+1, enough)
}

// index records what the current flights carry. Most flights are alone, and land without being
// looked at.
func (a *window) index() {
	for f := range a.flights {
		if !f.indexed && !f.stuck {
			f.indexed = true
			a.add(f, 1)
		}
	}
}

// release removes f from the index.
func (a *window) release(f *flight) {
	if f.indexed {
		f.indexed = false
		a.add(f, -1)
	}
}

func (a *window) add(f *flight, n int) {
	for _, o := range f.ops {
		key := o.key()
		if key == "" {
			continue
		}
		k := a.keys[key]
		k.commands += n
		if o.ballot.motion.Creates {
			k.creations += n
		}
		if f.start.After(k.last) {
			k.last = f.start
		}
		if k.commands == 0 {
			delete(a.keys, key)
		} else {
			a.keys[key] = k
		}
	}
}

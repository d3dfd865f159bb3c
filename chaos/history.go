package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// forever is the end of what is not known to have ended.
const forever = math.MaxInt64

// A History is all that is known of one run.
type History struct {
	Cell   Cell
	Seed   uint64
	Calls  []*Call // by when Lock returned
	Faults []Fault // as they were injected
	Looks  []Look  // what nodes had, seen past the network
	Store  []Access
	Start  int64 // the workers have begun
	Healed int64 // the last fault is over; 0: not yet
	End    int64
	Left   []string       // keys that were there when everyone had gone
	Stuck  bool           // a worker did not come to its end
	Shards map[string]int // the server that has each lock; nil: there is no Cluster

	killed map[string]int64 // by process: when it was killed
	away   []span           // of processes, while they were stopped
	asleep []span           // of processes that had no processor to run on, and of the network
}

// network is what the network is called in spans. It is in the driver: nothing comes through while that does not run.
const network = "network"

// A span is a stretch of time, of something.
type span struct {
	what     string
	from, to int64
}

// A Call is one call of Lock or TryLock, and what became of it.
type Call struct {
	Proc    string
	Op      int64
	Name    string
	Within  int64
	Blocks  bool
	Final   bool // nothing stood in its way
	Fixed   bool // not renewed
	Reads   bool // and leaves room for others that do
	Upgrade bool // to write, by an owner that reads

	Invoke  int64
	Off     int64 // when its context ended, of a candidate; 0: not
	Return  int64 // 0: it did not
	Err     string
	Refused bool // as there was no quorum, and the caller had time left

	// Of a lease, which it is if Hold is not empty.
	Hold     string
	Token    int64
	Count    int
	TTL      int64
	Start    int64 // of the attempt that was granted, reckoned from its deadline
	Deadline int64 // the last one known
	First    int64 // the deadline that it was granted with
	Held     int64 // when it last said that it was held
	Late     int64 // it said so at this moment, which was beyond its deadline; 0: never
	Silent   bool  // it never said that it was over

	Lost     int64  // when it was seen to be lost; 0: not
	Over     string // why
	Unlock   int64  // when Unlock was called; 0: not
	Unlocked int64  // when Unlock returned
	Failed   string
}

func (c *Call) granted() bool { return c.Hold != "" }

// passed tells whether the lease was passed on by another goroutine of its process.
func (c *Call) passed() bool { return c.Hold != tenure(c.Hold) }

// tenure is the hold id by which the nodes know a hold.
func tenure(hold string) string {
	id, _, _ := strings.Cut(hold, ".")
	return id
}

func (c *Call) id() string { return fmt.Sprintf("%s/%d", c.Proc, c.Op) }

// end is until when the lease was surely valid, by what its holder knew: until Unlock
// was called, or it was seen to be lost, or its deadline passed, or its process was
// killed, whichever came first.
func (h *History) end(c *Call) int64 {
	end := c.Deadline
	if c.Lost > 0 && c.Lost < end {
		end = c.Held // it was lost some time before that was seen
	}
	if c.Unlock > 0 {
		end = min(end, c.Unlock)
	}
	if at, dead := h.killed[c.Proc]; dead {
		end = min(end, at)
	}
	return end
}

// tell is a lease in words.
func (h *History) tell(c *Call) string {
	s := fmt.Sprintf("%s (hold %s, token %d, count %d) asked for it at %s, had it from %s until %s",
		c.id(), c.Hold, c.Token, c.Count, h.seconds(c.Invoke), h.seconds(c.Return), h.seconds(c.Deadline))
	if c.Lost > 0 {
		s += ", lost it by " + h.seconds(c.Lost)
	}
	if c.Unlock > 0 {
		s += ", unlocked it at " + h.seconds(c.Unlock)
	}
	if at, dead := h.killed[c.Proc]; dead {
		s += ", was killed at " + h.seconds(at)
	}
	return s
}

// read takes in what a process has written so far.
func (h *History) read(proc, path string) error {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil // killed before it could write
	}
	if err != nil {
		return err
	}
	calls := make(map[int64]*Call)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // the last line of one that was killed, or is writing it
		}
		if e.Kind == evAsleep {
			h.asleep = append(h.asleep, span{proc, e.From, e.At})
			continue
		}
		c := calls[e.Op]
		if c == nil {
			c = &Call{Proc: proc, Op: e.Op}
			calls[e.Op] = c
			h.Calls = append(h.Calls, c)
		}
		c.take(e)
	}
	return lines.Err()
}

func (c *Call) take(e Event) {
	if e.Deadline > 0 {
		c.Deadline = max(c.Deadline, e.Deadline)
	}
	switch e.Kind {
	case evLock:
		c.Invoke, c.Name, c.Within, c.Blocks, c.Fixed, c.TTL = e.At, e.Name, e.Within, e.Blocks, e.Fixed, e.TTL
		c.Reads, c.Upgrade = e.Reads, e.Upgrade
	case evFinal:
		c.Final = true
	case evOff:
		c.Off = e.At
	case evGranted:
		c.Return, c.Hold, c.Token, c.Count, c.Held = e.At, e.Hold, e.Token, e.Count, e.At
		c.First = e.Deadline
		c.Start = e.Deadline - c.TTL // a little early, as validity is less than the TTL
	case evDenied:
		c.Return, c.Err, c.Refused = e.At, e.Err, e.Refused
	case evHeld:
		c.Held = max(c.Held, e.At)
		if e.At > e.Deadline+early {
			c.Late = e.At
		}
	case evLost:
		c.Lost = e.At
		c.Over = e.Why
	case evSilent:
		c.Silent = true
	case evUnlock:
		c.Unlock = e.At
	case evUnlocked:
		c.Unlocked, c.Failed = e.At, e.Err
		if c.Over == "" {
			c.Over = e.Why
		}
	}
}

// sort brings the calls into the order in which they returned.
func (h *History) sort() {
	slices.SortStableFunc(h.Calls, func(a, b *Call) int {
		return cmp.Compare(a.returned(), b.returned())
	})
}

func (c *Call) returned() int64 {
	if c.Return == 0 {
		return forever
	}
	return c.Return
}

// leases are the calls that were granted, by when they were.
func (h *History) leases() []*Call {
	return slices.DeleteFunc(slices.Clone(h.Calls), func(c *Call) bool { return !c.granted() })
}

// names are the locks that were used.
func (h *History) names() []string {
	var names []string
	for _, c := range h.Calls {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// dozed tells whether the machine was too busy for a process, or for the network, at some time between two moments.
func (h *History) dozed(proc string, from, to int64) bool {
	return slices.ContainsFunc(h.asleep, func(s span) bool {
		return (s.what == proc || s.what == network) && s.from < to && from < s.to
	})
}

// rested is h as if the machine had had time for everybody all the while.
func (h *History) rested() *History {
	rested := *h
	rested.asleep = nil
	return &rested
}

// stopped tells whether a process was away at some time between two moments.
func (h *History) stopped(proc string, from, to int64) bool {
	return slices.ContainsFunc(h.away, func(s span) bool {
		return s.what == proc && s.from < to && from < s.to
	})
}

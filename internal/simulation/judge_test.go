package simulation

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A lease is what all kinds' leases have in common.
type lease interface {
	ID() string
	Token() int64
	Deadline() time.Time
	Err() error
}

// A hold is one name that a program has.
type hold struct {
	lease
	name  string
	by    int // the program
	reads bool
	slots []int // of a semaphore
}

// excludes reports whether two holds of one name must never be at the same time.
func (h hold) excludes(o hold) bool {
	if h.slots != nil {
		return slices.ContainsFunc(h.slots, func(slot int) bool { return slices.Contains(o.slots, slot) })
	}
	return !h.reads || !o.reads
}

func (h hold) String() string {
	s := fmt.Sprintf("%s (%s, token %d, of program %d)", h.ID(), h.name, h.Token(), h.by)
	if h.reads {
		s += " that reads"
	}
	if h.slots != nil {
		s += fmt.Sprint(" of slots ", h.slots)
	}
	return s
}

// A call is one call of Lock or Acquire.
type call struct {
	by      int
	began   time.Time
	hurried bool // its context ends soon

	passed []*call // those that came much earlier, and waited yet when it was served
}

// A judge watches what the programs are granted.
type judge struct {
	world world
	start time.Time
	quiet time.Time // the last fault has had its consequences

	mu      sync.Mutex
	held    map[string][]hold
	tokens  map[string]int64         // the last one but of those that read, by name
	readers map[string]int64         // the greatest of those that read, by name
	slots   map[string]map[int]int64 // the last one, by name and slot
	waiting map[*call]struct{}
	broken  []string // promises, a few of them
	served  []int    // holds of each program, once all is calm
	slowest []time.Duration
	last    time.Time     // when a call was granted something
	gap     time.Duration // the longest one between two such moments
	losses  int
	errors  int
	holds   int
}

func newJudge(w world) *judge {
	now := time.Now()
	return &judge{
		world: w, start: now, quiet: now.Add(w.quiet()), last: now,
		held: map[string][]hold{}, tokens: map[string]int64{}, readers: map[string]int64{}, slots: map[string]map[int]int64{},
		waiting: map[*call]struct{}{}, served: make([]int, len(w.programs)), slowest: make([]time.Duration, len(w.programs)),
	}
}

// breaks notes that a promise was broken.
func (j *judge) breaks(format string, args ...any) {
	const enough = 5
	if len(j.broken) < enough {
		at := time.Since(j.start).Round(time.Microsecond)
		j.broken = append(j.broken, fmt.Sprintf("%v: %s", at, fmt.Sprintf(format, args...)))
	}
}

// faulty reports whether what happened between two moments may be due to a fault.
func (j *judge) faulty(from, to time.Time) bool {
	return slices.ContainsFunc(j.world.faults, func(f fault) bool {
		return j.start.Add(f.at).Before(to) && j.start.Add(j.world.over(f)).After(from)
	})
}

// calls notes that a program waits from now on.
func (j *judge) calls(by int, hurried bool) *call {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := &call{by: by, began: time.Now(), hurried: hurried}
	j.waiting[c] = struct{}{}
	return c
}

// refused notes that a call has failed, expectedly if its context has ended.
func (j *judge) refused(c *call, err error, expected bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.waiting, c)
	if !expected {
		j.errors++
		if !j.faulty(c.began, time.Now()) {
			j.breaks("an error without a fault: %v", err)
		}
	}
}

// granted notes what a call has been given, and holds it against whatever is held.
func (j *judge) granted(c *call, holds []hold) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.waiting, c)
	j.holds++
	now := time.Now()
	if now.After(j.quiet) {
		j.served[c.by]++
		j.waited(c)
		j.gap = max(j.gap, now.Sub(j.last))
	}
	j.last = now
	j.passes(c)
	for _, h := range holds {
		if h.Err() != nil {
			continue // it is over already, and its program knows
		}
		j.held[h.name] = slices.DeleteFunc(j.held[h.name], func(o hold) bool { return o.Err() != nil || !o.Deadline().After(now) })
		for _, o := range j.held[h.name] {
			if h.excludes(o) {
				j.breaks("two holders: %v and %v", o, h)
			}
		}
		j.held[h.name] = append(j.held[h.name], h)
		j.hears(h)
	}
}

// passes notes whom c passes as it is served, where calls queue. They may be served in the same moment, as those are that read
// together.
func (j *judge) passes(c *call) {
	if !j.world.kind.queues || c.began.Before(j.quiet) || !j.world.reaches(j.world.programs[c.by]) {
		return
	}
	for o := range j.waiting {
		if !o.hurried && o.began.After(j.quiet) && c.began.Sub(o.began) > j.world.late() && j.world.reaches(j.world.programs[o.by]) {
			c.passed = append(c.passed, o)
		}
	}
}

// overtook holds against c whom it has passed, if they wait yet at the end of its hold.
func (j *judge) overtook(c *call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, o := range c.passed {
		if _, waits := j.waiting[o]; waits {
			j.breaks("overtaken: one of program %d, which waits for %v, by one of program %d that came %v later",
				o.by, time.Since(o.began), c.by, c.began.Sub(o.began))
		}
	}
}

// waited notes how long a call has waited since the world is calm.
func (j *judge) waited(c *call) {
	since := c.began
	if since.Before(j.quiet) {
		since = j.quiet
	}
	j.slowest[c.by] = max(j.slowest[c.by], time.Since(since))
}

// hears holds a token against those before it.
func (j *judge) hears(h hold) {
	token := h.Token()
	if h.slots != nil {
		if j.slots[h.name] == nil {
			j.slots[h.name] = map[int]int64{}
		}
		for _, slot := range h.slots {
			if last := j.slots[h.name][slot]; token <= last {
				j.breaks("a token that does not grow: %v after token %d", h, last)
			}
			j.slots[h.name][slot] = token
		}
		return
	}
	last := j.tokens[h.name]
	if h.reads { // maybe within a tenure that began before one elsewhere, which has met a node that has lost the counter
		j.readers[h.name] = max(j.readers[h.name], token)
	} else {
		last = max(last, j.readers[h.name])
		j.tokens[h.name] = token
	}
	if token < last || token == last && !h.reads {
		j.breaks("a token that does not grow: %v after token %d", h, last)
	}
}

// gives notes that holds, granted at since, are about to be given back, and whether their context had ended, before anybody
// looked at the leases.
func (j *judge) gives(holds []hold, since time.Time, ended bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, h := range holds {
		now := time.Now()
		if !ended && h.Deadline().Before(now) {
			j.breaks("a loss that is not seen: %v", h)
		}
		if err := h.Err(); err != nil {
			j.losses++
			if !j.faulty(since, now) {
				j.breaks("a loss without a fault: %v: %v", h, err)
			}
		}
		j.held[h.name] = slices.DeleteFunc(j.held[h.name], func(o hold) bool { return o.lease == h.lease })
	}
}

// gave notes how a release, of what was granted at since, has ended.
func (j *judge) gave(err error, since time.Time, ended bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil && !ended && j.world.near() && since.After(j.start.Add(warm)) && !j.faulty(since, time.Now()) {
		j.breaks("a release that fails without a fault: %v", err)
	}
}

// progress holds the calm time against what programs may expect.
func (j *judge) progress() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for c := range j.waiting {
		if p := j.world.programs[c.by]; !c.hurried && j.world.reaches(p) {
			j.waited(c)
			j.gap = max(j.gap, min(time.Since(j.last), time.Since(c.began)))
		}
	}
	for i, wait := range j.slowest {
		if wait > j.world.patience() {
			j.breaks("program %d had to wait for %v", i, wait)
		}
	}
	if j.gap > j.world.maxGap() {
		j.breaks("nobody was served for %v", j.gap)
	}
}

func (j *judge) String() string {
	return fmt.Sprintf("  %d holds, of which %v in the calm, with waits up to %v, the longest without any %v; %d losses, %d errors",
		j.holds, j.served, j.slowest, j.gap, j.losses, j.errors)
}

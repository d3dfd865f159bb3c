package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A job is what the workers of one process do: lock, hold, unlock, over and over.
type job struct {
	Workers int
	Hold    time.Duration
	Reads   int  // of a hundred times that a worker locks, those to read
	Writers int  // so many workers write, and alone are recorded; the others read. 0: all do what Reads says
	Own     bool // a name for each worker; otherwise all lock the same one
	Room    int  // for so many at once a name has room; 0: for one
	First   int  // the number of the first worker, among those of all processes
	// Uncounted: nobody asks for the commands. To count them costs, the more the longer they are.
	Uncounted bool
}

// reads tells whether that turn of that worker is to read.
func (j job) reads(worker, turn int) bool {
	if j.Writers > 0 {
		return worker >= j.Writers
	}
	return j.Reads > 0 && turn%100 < j.Reads
}

// names is how many names all workers lock together.
func (j job) names() int {
	if j.Own {
		return j.First + j.Workers
	}
	return 1
}

// A record is what workers did while they were measured. Durations are in nanoseconds.
type record struct {
	Pairs   []int64 // by worker
	Waits   []int64 // of those who got the lock
	Unlocks []int64
	Whole   []int64 // lock and unlock, without the hold
	Gaps    []int64 // between a release and the next grant
	Longest int64   // wait, of those who got nothing too
	Errors  int64
	Error   string // the first one
}

// add takes what another worker did into r.
func (r *record) add(o *record) {
	r.Pairs = append(r.Pairs, o.Pairs...)
	r.Waits = append(r.Waits, o.Waits...)
	r.Unlocks = append(r.Unlocks, o.Unlocks...)
	r.Whole = append(r.Whole, o.Whole...)
	r.Gaps = append(r.Gaps, o.Gaps...)
	r.Longest = max(r.Longest, o.Longest)
	r.Errors += o.Errors
	if r.Error == "" {
		r.Error = o.Error
	}
}

// The phases of a crew.
const (
	warming int32 = iota
	measuring
	ending
)

// A crew is a job under way.
type crew struct {
	job    job
	scene  *scene
	ctx    context.Context
	cancel context.CancelFunc
	phase  atomic.Int32
	inside atomic.Int32 // workers between the grant and the release
	work   sync.WaitGroup
	done   []record // by worker; written by it, to be read after work
}

// startCrew has j's workers begin.
func startCrew(l locker, j job, s *scene) *crew {
	// A deadline that is never reached: without one redislock gives up after its TTL.
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	c := &crew{job: j, scene: s, ctx: ctx, cancel: cancel, done: make([]record, j.Workers)}
	for i := range j.Workers {
		name, slot := "name", &s.slots[0]
		if j.Own {
			name, slot = fmt.Sprint("name:", j.First+i), &s.slots[j.First+i]
		}
		h := l.handle(name)
		c.work.Go(func() { c.done[i] = c.run(h, slot, i) })
	}
	return c
}

// measure begins to record.
func (c *crew) measure() { c.phase.Store(measuring) }

// end has nobody enter any more, and waits until who is in has left: some contenders
// end a hold with the context that it was asked for.
func (c *crew) end() {
	c.phase.Store(ending)
	for c.inside.Load() > 0 {
		time.Sleep(100 * time.Microsecond)
	}
}

// stop has those who still wait give up. It comes after end, of all processes.
func (c *crew) stop() record {
	c.cancel()
	c.work.Wait()
	var all record
	for i := range c.done {
		all.add(&c.done[i])
	}
	return all
}

func (c *crew) run(h handle, s *slot, worker int) record {
	r := record{Pairs: []int64{0}}
	for turn := worker; c.phase.Load() != ending; turn++ { // they do not all write at once
		lock, reads := h.lock, c.job.reads(worker, turn)
		if reads {
			lock = h.(sharing).rlock
		}
		began := now()
		l, err := lock(c.ctx)
		granted := now()
		if err != nil {
			if c.ctx.Err() == nil {
				r.fail(err)
				continue
			}
			r.Longest = max(r.Longest, granted-began) // and it got nothing
			break
		}
		c.inside.Add(1)
		if c.phase.Load() == ending {
			c.inside.Add(-1)
			r.Longest = max(r.Longest, granted-began)
			_ = l.unlock()
			break
		}
		gap := s.enter(granted, reads, max(1, c.job.Room))
		if c.job.Hold > 0 {
			time.Sleep(c.job.Hold)
		}
		s.leave(reads)
		c.inside.Add(-1)
		unlocking := now()
		err = l.unlock()
		unlocked := now()
		if err != nil {
			r.fail(err)
			continue
		}
		if c.phase.Load() != measuring || c.job.Writers > 0 && reads {
			continue
		}
		r.Pairs[0]++
		r.Waits = append(r.Waits, granted-began)
		r.Unlocks = append(r.Unlocks, unlocked-unlocking)
		r.Whole = append(r.Whole, granted-began+unlocked-unlocking)
		r.Longest = max(r.Longest, granted-began)
		if gap >= 0 {
			r.Gaps = append(r.Gaps, gap)
		}
	}
	return r
}

// fail counts an error. The pause keeps a contender that only fails from spinning.
func (r *record) fail(err error) {
	if r.Errors++; r.Error == "" {
		r.Error = err.Error()
	}
	time.Sleep(time.Millisecond)
}

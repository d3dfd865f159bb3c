package main

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// A plan is what a worker does next: all of its choices, drawn before the first of
// them is acted upon, so that they depend on the seed and not on what happens.
type plan struct {
	lock       string
	permits    int           // of a semaphore, which are wanted at once
	reads      bool          // of a read-write lock
	below      bool          // one that writes reads below, and may end writing first
	upgrade    bool          // one that reads asks to write, which is refused
	back       bool          // of a transfer: from the second account to the first
	fixed      bool          // a lease without watchdog
	try        bool          // TryLock
	wait       time.Duration // gives up waiting after this
	updates    int           // of the register, spread over the hold
	hold       time.Duration
	nested     int           // re-entries within
	nestedLast int           // and at the end
	sure       bool          // waits on when the worker is to come to its end
	crossed    bool          // ends its leases in the order in which it took them
	extend     time.Duration // Extend by this; 0: not
	outstay    bool          // keeps a fixed lease until it is told that it is over; leads until its context ends
	clean      time.Duration // of a leader: goes on for so long after its context has ended
	pause      time.Duration // then
}

// draw returns the nth plan of one goroutine of a worker.
func draw(cfg *Config, goroutine, n int) plan {
	rng := dice(cfg.Seed, "plan", int64(cfg.Worker), int64(cfg.Life), int64(goroutine), int64(n))
	ttl, pace := cfg.TTL, cfg.Pace
	if cfg.Hold > 0 {
		return plan{
			lock: cfg.Names[rng.IntN(len(cfg.Names))], wait: lastWait, sure: true,
			updates: 1, hold: cfg.Hold, nestedLast: 1, pause: rng.N(pace / 12),
		}
	}
	if cfg.Outstay {
		return plan{lock: cfg.Names[rng.IntN(len(cfg.Names))], wait: lastWait, fixed: true, outstay: true, updates: 1, pause: rng.N(pace / 12)}
	}
	if cfg.Transfer {
		p := plan{back: rng.IntN(2) == 0, try: rng.IntN(6) == 0, wait: lastWait, hold: rng.N(pace / 30), pause: rng.N(pace / 12)}
		if rng.IntN(4) == 0 { // cancelled early
			p.wait = rng.N(pace/10) + time.Millisecond
		}
		return p
	}
	if cfg.Election {
		p := plan{
			lock: cfg.Names[rng.IntN(len(cfg.Names))], wait: pace/10 + rng.N(6*pace),
			hold: rng.N(pace / 4), outstay: rng.IntN(3) == 0, pause: rng.N(pace / 12),
		}
		if rng.IntN(3) == 0 { // called off early
			p.wait = rng.N(pace/2) + time.Millisecond
		}
		if rng.IntN(2) == 0 {
			p.clean = rng.N(3 * ttl / 2)
		}
		return p
	}
	p := plan{
		lock:    cfg.Names[rng.IntN(len(cfg.Names))],
		try:     rng.IntN(8) == 0,
		wait:    pace/10 + rng.N(6*pace),
		updates: 1 + rng.IntN(3),
		hold:    rng.N(pace / 30),
		pause:   rng.N(pace / 12),
	}
	if rng.IntN(12) == 0 { // cancelled early
		p.wait = rng.N(pace/10) + time.Millisecond
	}
	if isSemaphore(p.lock) {
		p.permits = 1 + rng.IntN(permits-1)*rng.IntN(2)
	}
	if isShared(p.lock) {
		p.reads, p.below, p.upgrade = rng.IntN(100) < cfg.Reads, rng.IntN(2) == 0, rng.IntN(8) == 0
	}
	if rng.IntN(100) < cfg.Long {
		switch rng.IntN(3) {
		case 0: // outlives its TTL, by renewal
			p.hold = ttl/2 + rng.N(3*ttl)
		case 1:
			p.fixed, p.outstay = true, true
		default:
			p.fixed = true
			p.extend = ttl/2 + rng.N(ttl/2)
			p.hold = rng.N(ttl)
		}
	}
	if rng.IntN(3) == 0 {
		p.nested = 1 + rng.IntN(2)
		p.crossed = rng.IntN(2) == 0
	}
	return p
}

// dice are the random numbers for one purpose: the same for the same seed, whatever
// else is drawn.
func dice(seed uint64, purpose string, numbers ...int64) *source {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	for _, n := range numbers {
		for i := range 8 {
			h.Write([]byte{byte(n >> (8 * i))})
		}
	}
	return &source{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

type source struct{ *rand.Rand }

// N is a random duration below d.
func (s *source) N(d time.Duration) time.Duration { return time.Duration(s.Int64N(int64(max(d, 1)))) }

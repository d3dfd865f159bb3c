package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// now is the machine's monotonic clock, in nanoseconds. All processes of one machine
// read the same one, so moments of different workers can be compared.
func now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // Linux always has it
	}
	return t.Nano()
}

// anchor ties this process's time.Time to now. Go's monotonic reading is of the same
// clock, from another zero; the difference never changes.
var anchor = calibrate()

type tie struct {
	at   time.Time
	mono int64
}

// calibrate reads both clocks in one breath: a process that is stopped between the
// two readings would err by as long as it was stopped.
func calibrate() tie {
	for {
		before := now()
		at := time.Now()
		if now()-before < early {
			return tie{at: at, mono: before}
		}
	}
}

// early is by how much a moment may be, at the most.
const early = int64(20 * time.Microsecond)

// moment is t on the machine's clock, or a little early.
func moment(t time.Time) int64 { return anchor.mono + int64(t.Sub(anchor.at)) }

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// zero ties this process's clock to the machine's monotonic one, which all processes
// share: moments of different processes can then be compared, without a system call
// for each.
var (
	zero     = time.Now()
	zeroMono = machineClock()
)

// now is the machine's monotonic clock, in nanoseconds.
func now() int64 { return zeroMono + int64(time.Since(zero)) }

func machineClock() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // every Unix that Go runs on has it
	}
	return t.Nano()
}

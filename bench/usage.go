package main

import (
	"runtime"
	"syscall"
	"time"
)

// usage is what this process has used since it began.
type usage struct {
	CPU     time.Duration
	Mallocs uint64
	Bytes   uint64
}

func usageNow() usage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // it cannot fail with these arguments
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{
		CPU:     time.Duration(r.Utime.Nano() + r.Stime.Nano()),
		Mallocs: m.Mallocs,
		Bytes:   m.TotalAlloc,
	}
}

func (u usage) since(before usage) usage {
	return usage{CPU: u.CPU - before.CPU, Mallocs: u.Mallocs - before.Mallocs, Bytes: u.Bytes - before.Bytes}
}

func (u usage) and(o usage) usage {
	return usage{CPU: u.CPU + o.CPU, Mallocs: u.Mallocs + o.Mallocs, Bytes: u.Bytes + o.Bytes}
}

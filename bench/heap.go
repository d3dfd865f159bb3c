package main

import (
	"runtime"
	"runtime/pprof"
	"strings"
)

// heap is what is alive, in bytes: objects, and stacks of goroutines.
func heap() (objects, stacks float64) {
	runtime.GC()
	runtime.GC() // what finalizers have held on to
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc), float64(m.StackInuse)
}

// goroutinesIn counts the goroutines that have function on their stack.
func goroutinesIn(function string) (total int) {
	var profile strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1) // a Builder takes it all
	_, stacks, _ := strings.Cut(profile.String(), "\n")
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		if strings.Contains(stack, function) {
			total += leadingNumber(stack) // goroutines with the same stack
		}
	}
	return total
}

func leadingNumber(s string) (n int) {
	for _, r := range strings.TrimSpace(s) {
		if r < '0' || r > '9' {
			break
		}
		n = 10*n + int(r-'0')
	}
	return n
}

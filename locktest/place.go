package locktest

import (
	"fmt"
	"runtime"
	"strings"
)

// A place is where the program has called the library.
type place struct {
	function string // "": it is not known
	file     string
	line     int
}

// library is the prefix of the names of the library's functions; its tests and examples count as
// programs.
var library = func() []string {
	const module = "github.com/holdfast-go/holdfast/"
	packages := []string{"lock", "reentrant", "fair", "readwrite", "semaphore", "multi", "election", "redlock", "locktest"}
	for i, p := range packages {
		packages[i] = module + p + "."
	}
	return append(packages, module+"internal/engine.")
}()

// caller returns the place of the innermost function on the stack that is not the library's. If
// several locks are taken together, all but the last run on goroutines of their own, and have no
// such function.
func caller() place {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !ours(f) && !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "sync.") {
			return place{f.Function, f.File, f.Line}
		}
		if !more {
			return place{}
		}
	}
}

func ours(f runtime.Frame) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	for _, prefix := range library {
		if strings.HasPrefix(f.Function, prefix) {
			return true
		}
	}
	return false
}

// String is file:line, and the function.
func (p place) String() string {
	if p.function == "" {
		return "a place that is not known, as it was taken together with others"
	}
	return fmt.Sprintf("%s:%d (%s)", p.file, p.line, p.function)
}

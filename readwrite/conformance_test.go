package readwrite_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// How programs make one, and what it is.
var (
	_ func(*lock.Client, string, ...lock.Option) *readwrite.Mutex = readwrite.New
	_ lock.Locker                                                 = (*readwrite.Mutex)(nil)
	_ func(*readwrite.Mutex) lock.Locker                          = (*readwrite.Mutex).RLocker
)

// Of those that write, the rules are those of every mutex with a queue.
func TestConformance(t *testing.T) {
	conformance.Run(t, conformance.Kind{New: conformance.From(readwrite.New), Queues: true})
}

// Of those that read, too, where others write.
func TestConformanceOfReading(t *testing.T) {
	conformance.Run(t, conformance.Kind{New: newReader, Rival: conformance.From(readwrite.New), Queues: true})
}

// A reader is the reading side of a mutex.
type reader struct {
	lock.Locker
	lock.Inspector
}

func newReader(c *lock.Client, name string, opts ...lock.Option) conformance.Mutex {
	m := readwrite.New(c, name, opts...)
	return &reader{m.RLocker(), m}
}

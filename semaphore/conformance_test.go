package semaphore_test

import (
	"context"
	"testing"

	"github.com/holdfast-go/holdfast/internal/conformance"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/semaphore"
)

// How programs make one, and what it is.
var (
	_ func(*lock.Client, string, int, ...lock.Option) *semaphore.Semaphore                = semaphore.New
	_ func(*semaphore.Semaphore, context.Context, int) (*semaphore.Permit, error)         = (*semaphore.Semaphore).Acquire
	_ func(*semaphore.Semaphore, context.Context, int) (*semaphore.Permit, error)         = (*semaphore.Semaphore).TryAcquire
	_ func(*semaphore.Semaphore, context.Context, int, func(context.Context) error) error = (*semaphore.Semaphore).Do
	_ func(*semaphore.Semaphore, context.Context) (semaphore.State, error)                = (*semaphore.Semaphore).Inspect
	_ func(*semaphore.Permit) []int                                                       = (*semaphore.Permit).Slots
	_ func(*semaphore.Permit, context.Context) error                                      = (*semaphore.Permit).Release
)

// A semaphore of one permit does whatever a mutex with a queue does.
func TestConformanceOfASinglePermit(t *testing.T) {
	conformance.Run(t, conformance.Kind{
		New: conformance.From(semaphore.NewMutex), Queues: true,
		On: []string{"embedded", "five", "cluster", "sentinel"}, // the rest is the same engine on fewer nodes
	})
}

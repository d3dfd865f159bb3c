package semaphore

import (
	"github.com/holdfast-go/holdfast/internal/engine"
	"github.com/holdfast-go/holdfast/lock"
)

// NewMutex makes a semaphore of one permit that is used as a mutex, for the rules that all kinds share.
func NewMutex(c *lock.Client, name string, opts ...lock.Option) engine.Engine {
	return engine.New(c, scripts{1, 1}, name, opts)
}

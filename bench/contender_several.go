package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
)

// severalNames is how many names a handle of several locks together.
const severalNames = 4

// several is Holdfast's locks of several names that are taken together.
type several struct {
	*holdfast
	opposite bool
	handles  atomic.Int64
}

// openSeveral opens it. If opposite, every second handle is given the names in the opposite order.
func openSeveral(opposite bool) func(site) (locker, error) {
	return func(s site) (locker, error) {
		h, err := newHoldfast(s, nil)
		if err != nil {
			return nil, err
		}
		return &several{holdfast: h, opposite: opposite}, nil
	}
}

func (s *several) handle(name string) handle {
	var locks []lock.Locker
	for i := range severalNames {
		locks = append(locks, reentrant.New(s.locks, fmt.Sprint(name, "/", i)))
	}
	if n := s.handles.Add(1); s.opposite && n%2 == 0 {
		slices.Reverse(locks)
	}
	return severalHandle{multi.New(locks...)}
}

type severalHandle struct{ *multi.Mutex }

func (h severalHandle) lock(ctx context.Context) (held, error) {
	lease, err := h.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return severalHeld{lease}, nil
}

type severalHeld struct{ *multi.Lease }

func (h severalHeld) unlock() error { return h.Unlock(context.Background()) }

package promholdfast

import (
	"maps"
	"sync"
	"sync/atomic"
)

const (
	maxNames    = 200  // each has dozens of series for each kind and mode that it is used with
	maxLabels   = 5000 // of kinds, modes and names: more than there can be, unless a program makes kinds up
	maxRequests = 2000 // of nodes, commands and outcomes
	maxTrips    = 200  // of nodes and outcomes: each has a series for every bucket
)

// A table has a value for each key, made when the key is first seen. A look-up takes no mutex
// and allocates nothing. Once the table is full, all new keys share the value of rest.
//
// This file and waits.go are the same in the modules otel and prometheus, which a test holds. A package
// of the root module would save the copy, but modules are versioned apart: a newer root could break
// an older module by a package that nobody promised to keep.
type table[K comparable, V any] struct {
	make func(K) V // immutable
	rest K         // immutable
	most int       // immutable

	mu  sync.Mutex // to add
	all atomic.Pointer[map[K]V]
}

// of returns the value of k.
func (t *table[K, V]) of(k K) V {
	if v, ok := t.values()[k]; ok {
		return v
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if v, ok := t.values()[k]; ok {
		return v // another goroutine has added it: a gauge must go down where it went up
	}
	if len(t.values()) >= t.most {
		k = t.rest
	}
	if v, ok := t.values()[k]; ok {
		return v
	}
	v := t.make(k)
	all := maps.Clone(t.values())
	if all == nil {
		all = make(map[K]V)
	}
	all[k] = v
	t.all.Store(&all)
	return v
}

// values has all values by now. It must not be changed.
func (t *table[K, V]) values() map[K]V {
	if all := t.all.Load(); all != nil {
		return *all
	}
	return nil
}

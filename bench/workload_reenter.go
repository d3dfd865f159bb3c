package main

import (
	"context"
	"fmt"
)

var reenterColumns = []column{
	{title: "p50 µs", figure: p50, format: short},
	{title: "p99 µs", figure: p99, format: short},
	{title: "commands", figure: commands, format: tenths},
	{title: "CPU µs", figure: cpu, format: short},
	{title: "allocations", figure: allocs, format: whole},
}

// reenter is one goroutine that locks and unlocks what its owner holds already, beside
// one that locks and unlocks what nobody holds. All figures are of a pair.
func reenter(b *bench) error {
	t := newTable([]string{"N", "contender"}, reenterColumns)
	for _, n := range b.ns(1, 5) {
		var list []contender
		for _, c := range b.ours(n, "holdfast", "fair") {
			list = append(list, c, nested(c))
		}
		s, err := b.compare(list, func(c contender) (figures, error) {
			return b.try(c, b.on(n, job{Workers: 1, Own: true}, b.span))
		})
		if err != nil {
			return err
		}
		t.add(s, reenterColumns, fmt.Sprint(n))
	}
	b.show(t, nil)
	return nil
}

// nested is c, whose every handle re-enters a lock that it has had from the start.
func nested(c contender) contender {
	open := c.open
	c.name += ", nested"
	c.open = func(s site) (locker, error) {
		l, err := open(s)
		if err != nil {
			return nil, err
		}
		return nestedLocker{l.(*holdfast)}, nil
	}
	return c
}

type nestedLocker struct{ *holdfast }

func (l nestedLocker) handle(name string) handle {
	m := l.mutex(l.locks, name)
	outer, err := m.Lock(context.Background())
	if err != nil {
		return brokenHandle{err}
	}
	return nestedHandle{holdfastHandle{m}, outer.Context(context.Background())}
}

type nestedHandle struct {
	holdfastHandle
	owner context.Context
}

func (h nestedHandle) lock(context.Context) (held, error) { return h.holdfastHandle.lock(h.owner) }

// A brokenHandle could not be made.
type brokenHandle struct{ err error }

func (h brokenHandle) lock(context.Context) (held, error) { return nil, h.err }

package simulation

import (
	"context"
	"math/rand/v2"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// A kind is what the programs of a world lock, all of them the same.
type kind struct {
	name   string
	counts bool // it has permits
	shares bool // it has readers
	queues bool // first come, first served, over all programs
	names  int  // that one call waits for at most; it keeps the first while it waits for the next
	// locker draws one.
	locker func(w *world, p *program, c *lock.Client, r *rand.Rand) locker
}

// A locker is what all kinds have in common.
type locker func(ctx context.Context) (grant, error)

// A grant is a successful call.
type grant struct {
	holds   []hold
	context func(context.Context) context.Context
	release func(context.Context) error
}

var kinds = []kind{
	{name: "reentrant", names: 1, locker: func(_ *world, _ *program, c *lock.Client, _ *rand.Rand) locker {
		return single(reentrant.New(c, "a"), false)
	}},
	{name: "fair", names: 1, queues: true, locker: func(_ *world, _ *program, c *lock.Client, _ *rand.Rand) locker {
		return single(fair.New(c, "a"), false)
	}},
	{name: "fair and reentrant", names: 1, locker: func(_ *world, _ *program, c *lock.Client, r *rand.Rand) locker {
		if r.IntN(2) == 0 {
			return single(fair.New(c, "a"), false)
		}
		return single(reentrant.New(c, "a"), false)
	}},
	{name: "readwrite", names: 1, shares: true, queues: true, locker: func(_ *world, p *program, c *lock.Client, r *rand.Rand) locker {
		m := readwrite.New(c, "a")
		if r.Float64() < p.reads {
			return single(m.RLocker(), true)
		}
		return single(m, false)
	}},
	{name: "semaphore", names: 1, counts: true, queues: true, locker: func(w *world, p *program, c *lock.Client, r *rand.Rand) locker {
		n := 1
		if r.Float64() < p.big {
			n = 1 + r.IntN(w.permits)
		}
		s := semaphore.New(c, "a", w.permits)
		return func(ctx context.Context) (grant, error) {
			l, err := s.Acquire(ctx, n)
			if err != nil {
				return grant{}, err
			}
			return grant{holds: []hold{{lease: l, name: "a", slots: l.Slots()}}, context: l.Context, release: l.Release}, nil
		}
	}},
	{name: "multi", names: 3, locker: func(_ *world, _ *program, c *lock.Client, r *rand.Rand) locker {
		all := []lock.Locker{reentrant.New(c, "a"), fair.New(c, "b"), readwrite.New(c, "c")}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		m := multi.New(all[:1+r.IntN(len(all))]...)
		return func(ctx context.Context) (grant, error) {
			l, err := m.Lock(ctx)
			if err != nil {
				return grant{}, err
			}
			var holds []hold
			for _, one := range l.Leases() {
				holds = append(holds, hold{lease: one, name: one.Name()})
			}
			return grant{holds: holds, context: l.Context, release: l.Unlock}, nil
		}
	}},
}

func single(m lock.Locker, reads bool) locker {
	return func(ctx context.Context) (grant, error) {
		l, err := m.Lock(ctx)
		if err != nil {
			return grant{}, err
		}
		return grant{holds: []hold{{lease: l, name: l.Name(), reads: reads}}, context: l.Context, release: l.Unlock}, nil
	}
}

package simulation

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

var (
	worlds = flag.Uint64("worlds", 4, "how many of them are tried")
	from   = flag.Uint64("from", 1, "the seed of the first one")
)

var bg = context.Background()

func TestWorlds(t *testing.T) {
	for seed := *from; seed < *from+*worlds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { play(t, draw(seed)) })
		})
	}
}

// play plays a world to its end, which must be a good one.
func play(t *testing.T, w world) {
	s := &stage{world: w, nodes: virtual.StartN(t, w.nodes)}
	var clients []*lock.Client
	for i := range w.nodes {
		s.settle(i)
	}
	time.Sleep(w.guard + 2*time.Second) // nodes that have just started rest
	for i := range w.programs {
		h := virtual.NewHost(s.nodes)
		s.hosts = append(s.hosts, h)
		s.place(i)
		opts := []lock.ClientOption{lock.WithTTL(w.ttl), lock.WithNodeTimeout(nodeTimeout)}
		if w.guard > 0 {
			opts = append(opts, lock.WithRestartGuard(w.guard))
		}
		c, err := lock.NewClient(h.Clients(t), opts...)
		require.NoError(t, err)
		clients = append(clients, c)
	}
	s.judge = newJudge(w)
	ctx, stop := context.WithCancel(bg)
	var busy, faults sync.WaitGroup
	for i, p := range w.programs {
		for g := range p.goroutines {
			r := rand.New(rand.NewPCG(w.seed, uint64(1+i*1000+g)))
			busy.Go(func() { s.work(ctx, i, clients[i], r) })
		}
	}
	for _, f := range w.faults {
		faults.Go(func() { s.strike(f) })
	}
	faults.Wait()
	time.Sleep(time.Until(s.judge.start.Add(w.quiet() + w.calm())))
	s.judge.progress()
	ended := time.Now()
	stop()
	busy.Wait()
	if took := time.Since(ended); took > maxEnd+2*w.hold() {
		s.judge.breaks("the end took %v", took)
	}
	for _, c := range clients {
		_ = c.Close()
	}
	time.Sleep(3*w.ttl + 12*time.Second)
	s.leftovers()
	t.Log(w.String() + "\n" + s.judge.String())
	if len(s.judge.broken) > 0 {
		t.Errorf("in the world of %v\n%s", w, strings.Join(s.judge.broken, "\n"))
	}
}

// work is what each goroutine of a program does until ctx ends: it locks again and again.
func (s *stage) work(ctx context.Context, program int, c *lock.Client, r *rand.Rand) {
	p := &s.world.programs[program]
	about := func(d time.Duration) time.Duration { return d/2 + time.Duration(r.Int64N(int64(d)+1)) }
	for {
		time.Sleep(about(p.think))
		if ctx.Err() != nil {
			return
		}
		s.once(ctx, program, s.world.kind.locker(&s.world, p, c, r), r.Float64() < p.hurried, about(p.hold), r)
	}
}

// once locks once.
func (s *stage) once(ctx context.Context, program int, locks locker, hurried bool, hold time.Duration, r *rand.Rand) {
	calling := ctx
	if hurried {
		var cancel context.CancelFunc
		calling, cancel = context.WithTimeout(ctx, time.Duration(r.Int64N(int64(300*time.Millisecond))))
		defer cancel()
	}
	c := s.judge.calls(program, hurried)
	g, err := locks(calling)
	if err != nil {
		ended := calling.Err() != nil
		s.judge.refused(c, err, ended)
		if !ended {
			time.Sleep(10 * time.Millisecond)
		}
		return
	}
	for i := range g.holds {
		g.holds[i].by = program
	}
	granted := time.Now()
	s.judge.granted(c, g.holds)
	ends := g.context(bg)
	time.Sleep(hold)
	ended := ends.Err() != nil
	if !s.world.kind.counts && r.IntN(20) == 0 { // again, under the same owner
		if again, err := locks(g.context(bg)); err == nil {
			_ = again.release(bg)
		}
	}
	s.judge.overtook(c)
	s.judge.gives(g.holds, granted, ended)
	s.judge.gave(g.release(bg), granted, ended)
}

// leftovers looks at what the nodes still have of locks that nobody holds.
func (s *stage) leftovers() {
	for i, n := range s.nodes {
		for _, key := range n.Keys() {
			if !strings.HasSuffix(key, ":token") && !strings.HasSuffix(key, ":void") {
				s.judge.breaks("node %d still has %s", i, key)
			}
		}
	}
}

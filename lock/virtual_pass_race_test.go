package lock_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

// A relay is a name that is passed on while something else happens to it.
type relay struct {
	*testing.T
	*world
	p      *process
	holder *lock.Lease
	cancel context.CancelFunc // of the waiter who is next
	taken  bool               // from its holder, who is told soon, and may be inside until then

	inside atomic.Int32
	token  atomic.Int64
}

// Whatever happens at the moment of a hand-over: one is inside at a time, tokens grow, nobody
// waits for ever, and nothing is left behind.
func TestHandOverAtTheSameMomentAs(t *testing.T) {
	taking := map[string]bool{"a ForceUnlock": true, "a force elsewhere": true, "a loss": true}
	for name, rival := range map[string]func(*relay){
		"an Extend":      func(r *relay) { _ = r.holder.Extend(bg, 20*time.Second) },
		"a cancellation": func(r *relay) { r.cancel() },
		"a ForceUnlock":  func(r *relay) { _, _ = r.p.mutex().ForceUnlock(bg) },
		"a force elsewhere": func(r *relay) {
			_, _ = r.process().mutex().ForceUnlock(bg)
		},
		"a loss":     func(r *relay) { each(r.nodes, (*virtual.Node).Flush) },
		"a Close":    func(r *relay) { _ = r.p.locks.Close() },
		"a Shutdown": func(r *relay) { r.p.shutDown(r) },
		"an Unlock":  func(r *relay) { _ = r.holder.Unlock(bg) },
		"a re-entry": func(r *relay) {
			r.come(r.holder.Context(bg), r.p)
		},
		"a newcomer": func(r *relay) {
			r.come(bg, r.p)
		},
		"another process": func(r *relay) {
			r.come(bg, r.process())
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, []int{1, 3}, func(t *testing.T, w *world) {
				for range 30 {
					if t.Failed() {
						return
					}
					r := &relay{T: t, world: w, p: w.process(), taken: taking[name]}
					r.run(rival)
				}
			})
		})
	}
}

func (r *relay) run(rival func(*relay)) {
	l, err := r.p.mutex().Lock(bg)
	require.NoError(r, err)
	r.holder = l
	var waiters []<-chan grant
	for i := range 4 {
		ctx, cancel := context.WithTimeout(bg, 10*time.Minute) // nobody waits for so long
		defer cancel()
		if i == 0 {
			r.cancel = cancel
		}
		waiters = append(waiters, wait(ctx, r.p.mutex()))
		synctest.Wait()
	}
	time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond) // the nodes are asked, or not
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range rand.IntN(3) {
			runtime.Gosched()
		}
		rival(r)
	}()
	_ = l.Unlock(bg)
	left := make(chan struct{})
	for _, c := range waiters {
		go func() {
			if g := <-c; g.err == nil {
				r.visit(g.lease)
			} else if errors.Is(g.err, context.DeadlineExceeded) {
				r.Errorf("waited for ever: %v", g.err)
			}
			left <- struct{}{}
		}()
	}
	for range waiters {
		<-left
	}
	<-done
	r.cancel()
	_ = r.p.locks.Close()
	time.Sleep(time.Minute) // whatever is owed has been given back
	requireHolder(r.T, "", r.nodes)
}

// come has p lock and unlock.
func (r *relay) come(ctx context.Context, p *process) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // nobody waits for so long
	defer cancel()
	if l, err := p.mutex().Lock(ctx); err == nil {
		r.visit(l)
	} else if errors.Is(err, context.DeadlineExceeded) {
		r.Errorf("waited for ever: %v", err)
	}
}

// visit is the work of one holder.
func (r *relay) visit(l *lock.Lease) {
	others := r.inside.Add(1) - 1
	if l.Err() == nil && others > 0 && l.Count() == 1 && !r.taken {
		r.Errorf("%s is inside with %d others", l.ID(), others)
	}
	if before := r.token.Swap(l.Token()); before > l.Token() && l.Err() == nil && !r.taken {
		r.Errorf("%s: token %d after %d", l.ID(), l.Token(), before)
	}
	runtime.Gosched()
	r.inside.Add(-1)
	if err := l.Unlock(bg); err != nil && !errors.Is(err, lock.ErrLost) && !errors.Is(err, lock.ErrReleased) && !errors.Is(err, lock.ErrClosed) {
		r.Errorf("unlock: %v", err)
	}
}

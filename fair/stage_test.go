package fair_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

const (
	stageTTL = 10 * time.Second
	// recovery is how long after a fault connections may be missing: a subscription is
	// dead for 4 seconds before it is missed, and is made again within another.
	recovery = 6 * time.Second
	// served is when somebody has the lock at the latest once all faults are over: a
	// crashed holder's TTL, and a few heartbeats.
	served = stageTTL + 10*time.Second
	// gone is when the last key of a lock that nobody uses has expired: a void mark made
	// at the last moment of a TTL.
	gone = stageTTL + 15*time.Second
)

// A stage is where a play of moves takes place: nodes, three processes, and the log.
type stage struct {
	*bubble
	t  *rapid.T
	tb testing.TB

	states  []string // of the nodes; "": well
	healed  []time.Time
	actors  []*actor
	guests  []*guest  // whose Lock has not returned
	trouble time.Time // the last fault, or end of one
	order   fifo.Recorder

	mu     sync.Mutex
	inside []*lock.Lease // granted and not unlocked; some may be lost
}

// An actor is a process.
type actor struct {
	host  *virtual.Host
	nodes []redis.UniversalClient
	locks *lock.Client
	mutex *fair.Mutex
	id    string          // of the client
	known map[string]bool // hold ids that belong to a guest
	isCut bool
	back  time.Time // from the last cut
	vague bool      // its hold ids cannot be told apart any more
}

// A guest is one Lock.
type guest struct {
	actor  *actor
	visit  *fifo.Visit
	hold   string // "": not seen in any queue yet
	left   bool   // it has no claim any more
	cancel func()
	done   chan struct{}
	lease  *lock.Lease
}

// bubbleTB is what virtual needs of a test, in a bubble of rapid's.
type bubbleTB struct {
	testing.TB
	t *rapid.T
}

func (tb bubbleTB) Helper()          {}
func (tb bubbleTB) Cleanup(f func()) { tb.t.Cleanup(f) }

func newStage(t testing.TB, rt *rapid.T, nodes int) *stage {
	tb := bubbleTB{t, rt}
	s := &stage{bubble: newBubble(rt, tb, nodes), t: rt, tb: tb, states: make([]string, nodes), healed: make([]time.Time, nodes)}
	for range 3 {
		s.actors = append(s.actors, s.actor())
		require.NotNil(rt, s.actors[len(s.actors)-1])
	}
	return s
}

// actor starts a process; nil: it cannot. Who meets a node for the first time holds a
// mutex until it answers, and who waits for that mutex stops the clock of a bubble: so all
// nodes must be well.
func (s *stage) actor() *actor {
	if slices.ContainsFunc(s.states, func(state string) bool { return state != "" }) {
		return nil
	}
	h := virtual.NewHost(s.nodes)
	nodes := h.Clients(s.tb)
	c, err := lock.NewClient(nodes, lock.WithTTL(stageTTL))
	if err != nil {
		return nil
	}
	s.t.Cleanup(func() { _ = c.Close() }) // has all calls return
	// The id that all its holds will have.
	lease, err := fair.New(c, "hello").TryLock(bg)
	if err != nil {
		return nil
	}
	_ = lease.Unlock(bg)
	synctest.Wait()
	id, _, _ := strings.Cut(lease.ID(), ":")
	return &actor{host: h, nodes: nodes, locks: c, mutex: fair.New(c, "orders"), id: id, known: make(map[string]bool)}
}

// make has a move happen, if it can, and checks what can be seen then.
func (s *stage) make(m move) {
	actor, node := m.Who%len(s.actors), m.Who%len(s.nodes)
	if s.actors[actor] == nil {
		s.actors[actor] = s.actor()
	}
	switch m.What {
	case "come":
		if s.actors[actor] != nil {
			s.come(s.actors[actor])
		}
	case "unlock":
		s.unlock()
	case "wait":
		time.Sleep(m.Time)
	case "leave":
		if len(s.guests) > 0 {
			s.leave(s.guests[m.Who%len(s.guests)])
		}
	case "crash":
		if s.actors[actor] != nil {
			s.crash(actor)
		}
	case "cut":
		if s.actors[actor] != nil {
			s.cut(s.actors[actor])
		}
	case "pause", "silence", "slow", "kill":
		s.harm(node, m)
	case "heal":
		s.heal(node)
		s.join()
	}
	s.settle()
}

func (s *stage) come(a *actor) {
	ctx, cancel := context.WithCancel(bg)
	g := &guest{actor: a, visit: s.order.Begin(fmt.Sprintf("%d of %.4s", len(s.order.Waiters()), a.id)), cancel: cancel, done: make(chan struct{})}
	s.guests = append(s.guests, g)
	if a.isCut || time.Since(a.back) < recovery {
		s.release(g) // the nodes may hear it before it can hear them
	}
	go func() {
		defer close(g.done)
		lease, err := a.mutex.Lock(ctx)
		if err == nil {
			g.lease = lease
			g.visit.Grant(lease.ID())
			s.enter(lease)
		} else if !errors.Is(err, context.Canceled) && !errors.Is(err, lock.ErrClosed) {
			s.t.Errorf("Lock: %v", err)
		}
	}()
}

// enter notes that lease was granted. Every other one must be over (I1).
func (s *stage) enter(lease *lock.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.inside {
		if other.Err() == nil {
			s.t.Errorf("%s and %s have the lock at once", other.ID(), lease.ID())
		}
	}
	s.inside = append(s.inside, lease)
}

// holder is who has the lock; nil: nobody.
func (s *stage) holder() *lock.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside = slices.DeleteFunc(s.inside, func(l *lock.Lease) bool { return l.Err() != nil })
	if len(s.inside) == 0 {
		return nil
	}
	return s.inside[0]
}

// exit notes that lease is about to be unlocked, or that its process is gone.
func (s *stage) exit(lease *lock.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside = slices.DeleteFunc(s.inside, func(l *lock.Lease) bool { return l == lease })
}

// unlock has the holder unlock. In calm the head has the lock in no time.
func (s *stage) unlock() {
	lease := s.holder()
	if lease == nil {
		return
	}
	next := s.head()
	s.exit(lease)
	err := lease.Unlock(bg)
	synctest.Wait()
	if next == nil {
		return
	}
	if err != nil {
		s.t.Fatalf("unlock, in calm: %v", err)
	}
	if !next.over() {
		s.t.Fatalf("%s is the head, and was not served at once", next.hold)
	}
}

// leave has a guest give up. In calm it is gone from every node in no time.
func (s *stage) leave(g *guest) {
	calm := s.calm()
	s.release(g)
	g.cancel()
	<-g.done
	synctest.Wait()
	if g.lease != nil || !calm || g.hold == "" {
		return
	}
	for i, queue := range s.queues() {
		if _, there := queue[g.hold]; there {
			s.t.Fatalf("node %d has %s after it left", i, g.hold)
		}
	}
}

// release ends the guest's claim.
func (s *stage) release(g *guest) {
	if !g.left {
		g.left = true
		g.visit.Leave()
	}
}

func (g *guest) over() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

package fair_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/fifo"
)

// crash ends a process. Another will take its place.
func (s *stage) crash(i int) {
	a := s.actors[i]
	s.trouble = time.Now()
	a.host.Kill()
	for _, g := range s.guests {
		if g.actor == a {
			s.release(g)
			g.cancel()
		}
	}
	if l := s.holder(); l != nil && strings.HasPrefix(l.ID(), a.id+":") {
		s.exit(l)
	}
	_ = a.locks.Close() // what it says now no node hears
	s.actors[i] = nil
}

// cut cuts a process off. Its waiters are taken for dead, so they have no claim.
func (s *stage) cut(a *actor) {
	s.trouble = time.Now()
	a.host.Silence(true)
	a.isCut = true
	for _, g := range s.guests {
		if g.actor == a {
			s.release(g)
		}
	}
}

// join ends all cuts.
func (s *stage) join() {
	for _, a := range s.actors {
		if a != nil && a.isCut {
			s.trouble = time.Now()
			a.host.Silence(false)
			a.isCut, a.back = false, time.Now()
		}
	}
	s.refresh()
}

// refresh has idle connections that have died in silence found before calm. Signs of life
// find those for lone commands; nobody may need the others before a hand-over does.
func (s *stage) refresh() {
	for _, a := range s.actors {
		if a == nil {
			continue
		}
		for _, n := range a.nodes {
			for range 3 {
				go func() {
					_, _ = n.Pipelined(bg, func(p redis.Pipeliner) error { return p.Ping(bg).Err() })
				}()
			}
		}
	}
}

func (s *stage) harm(i int, m move) {
	if s.states[i] != "" || m.What == "kill" && !s.forgettable(i) {
		return
	}
	s.trouble = time.Now()
	s.states[i] = m.What
	switch n := s.nodes[i]; m.What {
	case "pause":
		n.Pause()
	case "silence":
		n.Silence(true)
	case "slow":
		n.SetDelay(m.Time, 0)
	case "kill":
		n.Kill()
		s.reckon()
	}
}

func (s *stage) heal(i int) {
	if s.states[i] == "" {
		return
	}
	s.reckon() // what it kept while it was away
	s.trouble = time.Now()
	switch n := s.nodes[i]; s.states[i] {
	case "pause":
		n.Resume()
	case "silence":
		n.Silence(false)
	case "slow":
		n.SetDelay(0, 0)
	case "kill":
		n.Start()
	}
	s.states[i], s.healed[i] = "", time.Now()
	s.refresh()
}

// shaky is how many nodes have a fault, or had one a moment ago: connections to them may
// be missing, and who does not listen to a quorum of nodes may lose its place.
func (s *stage) shaky() int {
	n := 0
	for i, state := range s.states {
		if state != "" || time.Since(s.healed[i]) < recovery {
			n++
		}
	}
	return n
}

// forgettable tells whether node i may lose its memory: a quorum must keep what it
// acknowledged, or exclusion is not promised. So nothing may be under way, and who has
// the lock must have it on a quorum without that node.
func (s *stage) forgettable(i int) bool {
	time.Sleep(time.Second) // the rounds that are under way end
	synctest.Wait()
	kept := 0
	lease := s.holder()
	for j, n := range s.nodes {
		if s.states[j] == "kill" {
			continue
		}
		if s.states[j] != "" {
			return false
		}
		id, _ := n.Holder(s.keys.Lock)
		if lease == nil && id != "" || lease != nil && id != lease.ID() && id != "" {
			return false // of a round that is not over
		}
		if j != i && id != "" {
			kept++
		}
	}
	return lease == nil || kept > len(s.nodes)/2
}

// queues are the places of those who are taken for alive, for each node that is not dead.
func (s *stage) queues() []map[string]int64 { return s.queuesAfter(0) }

// queuesAfter leaves out who must give a sign of life within d.
func (s *stage) queuesAfter(d time.Duration) []map[string]int64 {
	queues := make([]map[string]int64, 0, len(s.nodes))
	for i, n := range s.nodes {
		if s.states[i] == "kill" {
			continue
		}
		queue := make(map[string]int64)
		ids, _ := n.Memory().ZMembers(s.keys.Queue()) // an error: there is none
		for _, id := range ids {
			ticket, err := n.Memory().ZScore(s.keys.Queue(), id)
			require.NoError(s.t, err)
			until, _, _ := strings.Cut(n.Memory().HGet(s.keys.Waiters(), id), " ")
			if alive, err := strconv.ParseInt(until, 10, 64); err == nil && alive > time.Now().Add(d).UnixMicro() {
				queue[id] = int64(ticket)
			}
		}
		queues = append(queues, queue)
	}
	return queues
}

// reckon ends the claims of those whose ticket no quorum has, or will have in a moment:
// who seems not to listen has 0.3 seconds, and the next one may be served as they end.
func (s *stage) reckon() {
	queues := s.queuesAfter(300 * time.Millisecond)
	for _, g := range s.guests {
		if g.left || g.over() {
			continue
		}
		tickets := make(map[int64]int)
		for _, queue := range queues {
			if ticket, there := queue[g.hold]; there {
				tickets[ticket]++
			}
		}
		if len(tickets) == 0 || tickets[slices.Max(slices.Collect(maps.Keys(tickets)))] <= len(s.nodes)/2 {
			s.release(g)
		}
	}
}

// settle lets everything happen that takes no time, and notes who has a place.
func (s *stage) settle() {
	synctest.Wait()
	s.identify()
	queues := s.queues()
	var places [][]fifo.Place
	for _, queue := range queues {
		var line []fifo.Place
		for id, ticket := range queue {
			line = append(line, fifo.Place{Hold: id, Ticket: ticket})
		}
		places = append(places, line)
	}
	if len(places) > len(s.nodes)/2 {
		s.order.Settle(fifo.Settled(places, len(s.nodes)/2+1)...)
	}
	if s.shaky() > (len(s.nodes)-1)/2 {
		s.reckon()
	}
	s.guests = slices.DeleteFunc(s.guests, (*guest).over)
	s.require()
}

// require holds the log against the promise (I7).
func (s *stage) require() {
	for _, i := range fifo.Inversions(s.order.Waiters()) {
		s.t.Fatalf("out of order: %v", i)
	}
}

// identify finds out which hold a guest waits with: of one process, the one that is new.
func (s *stage) identify() {
	for _, a := range s.actors {
		if a == nil {
			continue
		}
		var unknown []*guest
		for _, g := range s.guests {
			switch {
			case g.actor != a:
			case g.hold != "":
			case g.over() && g.lease == nil:
				a.vague = true // it may come late, as a ghost
			case !g.over():
				unknown = append(unknown, g)
			}
		}
		fresh := make(map[string]bool)
		for _, queue := range s.queues() {
			for id := range queue {
				if strings.HasPrefix(id, a.id+":") && !a.known[id] {
					fresh[id] = true
				}
			}
		}
		if a.vague || len(unknown) != 1 || len(fresh) != 1 {
			continue
		}
		for id := range fresh {
			unknown[0].hold, a.known[id] = id, true
			if !unknown[0].left {
				unknown[0].visit.Wait(id)
			}
		}
	}
}

// calm tells whether all is well, and has been for a while.
func (s *stage) calm() bool {
	return time.Since(s.trouble) > recovery && !slices.ContainsFunc(s.states, func(state string) bool { return state != "" }) &&
		!slices.ContainsFunc(s.actors, func(a *actor) bool { return a != nil && a.isCut })
}

// head is who is next by all accounts, in calm; nil: that is not known.
func (s *stage) head() *guest {
	if !s.calm() {
		return nil
	}
	firsts := make(map[string]bool)
	for _, queue := range s.queues() {
		ids := slices.SortedFunc(maps.Keys(queue), func(a, b string) int {
			return cmp.Or(cmp.Compare(queue[a], queue[b]), cmp.Compare(a, b))
		})
		if len(ids) == 0 {
			return nil
		}
		firsts[ids[0]] = true
	}
	for _, g := range s.guests {
		if len(firsts) == 1 && firsts[g.hold] && !g.over() {
			return g
		}
	}
	return nil
}

// finish ends all faults, has all who wait served, and requires that nothing is left.
func (s *stage) finish() {
	for i := range s.nodes {
		s.heal(i)
	}
	s.join()
	s.settle()
	for len(s.guests) > 0 {
		if s.holder() != nil {
			s.unlock()
			s.settle()
			continue
		}
		for start := time.Now(); s.holder() == nil && len(s.guests) > 0; time.Sleep(50 * time.Millisecond) {
			if time.Since(start) > served {
				s.t.Fatalf("nobody is served: %v", s.queues())
			}
			s.settle()
		}
	}
	s.unlock()
	s.settle()
	for _, a := range s.actors {
		if a != nil {
			if err := a.locks.Close(); err != nil {
				s.t.Fatalf("close: %v", err)
			}
		}
	}
	time.Sleep(gone)
	for i, n := range s.nodes {
		for _, key := range n.Keys() {
			if !strings.HasSuffix(key, ":token") {
				s.t.Fatalf("node %d still has %s", i, key)
			}
		}
	}
}

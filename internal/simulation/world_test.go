package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A world is what a seed stands for.
type world struct {
	seed uint64

	nodes   int
	trip    time.Duration // of a command and its answer, between any program and any node
	farNode time.Duration // how much farther the first node is
	ttl     time.Duration
	guard   time.Duration // WithRestartGuard; none is 0

	kind     kind
	permits  int
	programs []program
	faults   []fault
}

// A program is a process with one lock client.
type program struct {
	far time.Duration // how much farther from it all nodes are

	goroutines  int
	hold, think time.Duration // on average
	hurried     float64       // how many of its calls end early if they have to wait
	reads       float64       // how many of its locks are a reader's
	big         float64       // how many of its requests are for several permits
}

const (
	// trouble is how long faults go on.
	trouble = 10 * time.Second
	// minCalm and maxCalm are how long a world is watched at least, and at most, after the last fault has had its
	// consequences.
	minCalm = 6 * time.Second
	maxCalm = 40 * time.Second
	// warm is when programs have connected to the nodes and told them their scripts.
	warm = 3 * time.Second
	// maxEnd is how long programs may take to end once they are told to, beside the holds in progress.
	maxEnd = 5 * time.Second
	// nodeTimeout is that of the programs.
	nodeTimeout = 200 * time.Millisecond
	// busiest is how many locks are taken in a second at most, for a world costs time by the command.
	busiest = 500
)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// draw draws the world of a seed.
func draw(seed uint64) world {
	r := rand.New(rand.NewPCG(seed, 0))
	w := world{
		seed:    seed,
		nodes:   pick(r, 1, 3, 3, 5),
		trip:    pick(r, 0, 200*time.Microsecond, 2*time.Millisecond, 20*time.Millisecond, 60*time.Millisecond),
		ttl:     pick(r, 500*time.Millisecond, time.Second, 4*time.Second),
		kind:    pick(r, kinds...),
		permits: pick(r, 1, 2, 3, 8, 40),
	}
	w.guard = pick(r, 0, w.ttl)
	if w.nodes > 1 && r.IntN(3) == 0 {
		w.farNode = 70 * time.Millisecond
	}
	hold := pick(r, 300*time.Microsecond, 2*time.Millisecond, 20*time.Millisecond, 300*time.Millisecond)
	think := pick(r, 0, time.Millisecond, 100*time.Millisecond)
	goroutines := 0
	for range pick(r, 1, 2, 3, 5) {
		p := program{
			goroutines: pick(r, 1, 2, 8, 40, 100),
			hold:       hold,
			think:      think,
			hurried:    pick(r, 0, 0, 0.1, 0.9),
			reads:      pick(r, 0, 0.5, 0.95, 1),
			big:        pick(r, 0, 0, 0.1, 1),
		}
		if r.IntN(6) == 0 {
			p.far = pick(r, 10*time.Millisecond, 80*time.Millisecond, 300*time.Millisecond)
		}
		if r.IntN(4) == 0 {
			p.hold = pick(r, 300*time.Microsecond, 20*time.Millisecond)
		}
		goroutines += p.goroutines
		w.programs = append(w.programs, p)
	}
	for i := range w.programs {
		p := &w.programs[i]
		p.think = max(p.think, time.Duration(goroutines)*time.Second/busiest-p.hold)
	}
	for range pick(r, 0, 0, 3, 10) {
		w.faults = append(w.faults, w.drawFault(r))
	}
	return w
}

func (w world) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "seed %d: %d nodes, trip %v", w.seed, w.nodes, w.trip)
	if w.farNode > 0 {
		fmt.Fprintf(&s, " (to the first one %v)", w.trip+w.farNode)
	}
	fmt.Fprintf(&s, ", TTL %v, guard %v, %s", w.ttl, w.guard, w.kind.name)
	if w.kind.counts {
		fmt.Fprintf(&s, ", %d permits", w.permits)
	}
	for i, p := range w.programs {
		fmt.Fprintf(&s, "\n  program %d: %d goroutines hold for %v after %v", i, p.goroutines, p.hold, p.think)
		for _, part := range []struct {
			of   float64
			what string
			said bool
		}{{p.hurried, "hurried", true}, {p.reads, "reads", w.kind.shares}, {p.big, "big", w.kind.counts}} {
			if part.of > 0 && part.said {
				fmt.Fprintf(&s, ", %.0f%% %s", 100*part.of, part.what)
			}
		}
		if p.far > 0 {
			fmt.Fprintf(&s, ", %v farther away", p.far)
		}
	}
	for _, f := range w.faults {
		fmt.Fprintf(&s, "\n  %v", f)
	}
	return s.String()
}

// quiet is when the last fault has had its consequences.
func (w world) quiet() time.Duration {
	quiet := trouble
	for _, f := range w.faults {
		quiet = max(quiet, w.over(f))
	}
	return quiet
}

// reaches reports whether a program hears from the nodes before it gives them up.
func (w world) reaches(p program) bool { return w.trip+p.far < nodeTimeout }

// near reports whether the nodes are so near to all programs that the node timeout is enough for a command that has to wait
// for a few others.
func (w world) near() bool {
	return !slices.ContainsFunc(w.programs, func(p program) bool { return 8*(w.trip+p.far) > nodeTimeout })
}

// patience is how long one call may take without a fault, by a program that reaches the nodes. Nodes hand a lock over in one
// and a half round trips of the next one, and serve waiters one by one at worst. Where calls do not queue, programs take turns,
// whichever has the most goroutines.
func (w world) patience() time.Duration {
	all, most := time.Duration(0), time.Duration(0)
	for _, p := range w.programs {
		takes := time.Duration(w.kind.names*p.goroutines) * (p.hold + 3*(w.trip+p.far))
		all, most = all+takes, max(most, takes)
	}
	if !w.kind.queues {
		all = time.Duration(len(w.programs)) * most
	}
	return 5*time.Second + all
}

// calm is how long the world is watched after the last fault has had its consequences: until it would show that somebody is
// not served at all.
func (w world) calm() time.Duration { return min(max(minCalm, w.patience()+time.Second), maxCalm) }

// late is how much later a call must have begun than another one not to be served before it, where calls queue: by then that
// one has its place. The waiters of a program may take theirs one in a round trip.
func (w world) late() time.Duration {
	late := time.Second
	for _, p := range w.programs {
		late = max(late, time.Second+time.Duration(p.goroutines)*(w.trip+w.farNode+p.far))
	}
	return late
}

// hold is the longest hold, on average.
func (w world) hold() (hold time.Duration) {
	for _, p := range w.programs {
		hold = max(hold, p.hold)
	}
	return hold
}

// maxGap is how long no call may be served without a fault though some wait: a lost message costs 3 seconds. A program that
// does not reach the nodes is given three turns, which it hears of too late, before it leaves the queue to the others.
func (w world) maxGap() time.Duration {
	gap := 4*time.Second + 2*w.hold()
	if slices.ContainsFunc(w.programs, func(p program) bool { return !w.reaches(p) }) {
		gap += 3 * time.Second
	}
	return gap
}

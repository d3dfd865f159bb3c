package waiter

import (
	"slices"
	"time"
)

// memory is how long a message is remembered after its first publication. By then every reachable
// node has published it, and a repetition would wake again.
const memory = time.Second

// A tally counts the nodes that have published messages about one subject: each node once, until
// the tally has woken.
type tally struct {
	subject string
	since   time.Time
	said    []string // by each node, the first message; "": none
	count   int
	woken   bool // for a quorum, or for a minority when the grace was over
}

// tallies are the tallies of one channel, by subject. On a channel that carries the messages of
// many locks, a node may be any number of messages ahead of another.
type tallies struct {
	known   map[string]*tally // by subject, the last one
	order   []*tally          // all, oldest first
	waiting []*tally          // for a quorum, or for their grace to be over; oldest first
}

// count records that one of n nodes has published message about a subject. It returns the tally,
// and whether it is the node's first message for it.
func (ts *tallies) count(subject, message string, node, n, quorum int, now time.Time) (t *tally, first bool) {
	ts.forget(now)
	t = ts.known[subject]
	if t == nil || t.isOver(message, node, quorum) {
		if ts.known == nil {
			ts.known = make(map[string]*tally)
		}
		t = &tally{subject: subject, since: now, said: make([]string, n)}
		ts.known[subject] = t
		ts.order = append(ts.order, t)
		ts.waiting = append(ts.waiting, t)
	}
	news := t.woken && !slices.Contains(t.said, message)
	if first = t.said[node] == ""; first {
		t.count++
		t.said[node] = message
	}
	if news && t.count == quorum {
		// Of what it tells of now, this node may be the first to know: a quorum of them wakes again.
		next := &tally{subject: subject, since: now, said: make([]string, n), count: 1, woken: true}
		next.said[node] = message
		ts.known[subject] = next
		ts.order = append(ts.order, next)
	}
	return t, first
}

// isOver reports whether a message belongs to another tally of the same subject. A repetition, or a
// late message by another node, belongs to this one; so does a message that completes a quorum for
// which the tally has not woken.
func (t *tally) isOver(message string, node, quorum int) bool {
	return t.woken && !slices.Contains(t.said, message) && (t.count >= quorum || t.said[node] != "")
}

// messages returns the nodes' messages.
func (t *tally) messages() []string {
	said := make([]string, 0, t.count)
	for _, message := range t.said {
		if message != "" {
			said = append(said, message)
		}
	}
	return said
}

// forget drops tallies that were first published longer than memory ago.
func (ts *tallies) forget(now time.Time) {
	for len(ts.order) > 0 && ts.order[0].woken && now.Sub(ts.order[0].since) >= memory {
		if t := ts.order[0]; ts.known[t.subject] == t {
			delete(ts.known, t.subject)
		}
		ts.order[0] = nil
		ts.order = ts.order[1:]
	}
}

// due returns the messages of subjects whose grace is over without a quorum, marks them as woken,
// and returns when the next grace ends; zero: there is none.
func (ts *tallies) due(now time.Time) (said [][]string, next time.Time) {
	for len(ts.waiting) > 0 {
		t := ts.waiting[0]
		if over := t.since.Add(grace); !t.woken && now.Before(over) {
			return said, over
		}
		if !t.woken {
			t.woken = true
			said = append(said, t.messages())
		}
		ts.waiting[0] = nil
		ts.waiting = ts.waiting[1:]
	}
	return said, time.Time{}
}

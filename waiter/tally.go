package waiter

import "time"

// memory is how long a message is remembered after its first publication: by then
// every node that can be reached has published it, and a repetition would wake again.
const memory = time.Second

// A tally counts the nodes that have published one message.
type tally struct {
	message string
	since   time.Time
	nodes   []bool
	count   int
	woken   bool // for a quorum, or for the minority that there was when its grace was over
}

// tallies are the messages of one channel, told apart. On a channel that carries the
// messages of many locks, a node may be any number of them ahead of another.
type tallies struct {
	known   map[string]*tally
	order   []*tally // all, oldest first
	waiting []*tally // for a quorum, or for their grace to be over; oldest first
}

// count notes that one of n nodes has published message. It returns the tally, and
// whether it is the node's first time.
func (ts *tallies) count(message string, node, n int, now time.Time) (t *tally, first bool) {
	ts.forget(now)
	t = ts.known[message]
	if t == nil {
		if ts.known == nil {
			ts.known = make(map[string]*tally)
		}
		t = &tally{message: message, since: now, nodes: make([]bool, n)}
		ts.known[message] = t
		ts.order = append(ts.order, t)
		ts.waiting = append(ts.waiting, t)
	}
	if first = !t.nodes[node]; first {
		t.nodes[node] = true
		t.count++
	}
	return t, first
}

// forget drops what was first published longer than memory ago.
func (ts *tallies) forget(now time.Time) {
	for len(ts.order) > 0 && ts.order[0].woken && now.Sub(ts.order[0].since) >= memory {
		delete(ts.known, ts.order[0].message)
		ts.order[0] = nil
		ts.order = ts.order[1:]
	}
}

// due takes the messages whose grace is over without a quorum, as woken, and tells
// when the next one's is; zero: there is none.
func (ts *tallies) due(now time.Time) (messages []string, next time.Time) {
	for len(ts.waiting) > 0 {
		t := ts.waiting[0]
		if over := t.since.Add(grace); !t.woken && now.Before(over) {
			return messages, over
		}
		if !t.woken {
			t.woken = true
			messages = append(messages, t.message)
		}
		ts.waiting[0] = nil
		ts.waiting = ts.waiting[1:]
	}
	return messages, time.Time{}
}

package waiter

import "time"

// echo is for how long a message that one line has heard may still come by another. The servers of a Cluster may
// gather what they forward for some 40 ms.
const echo = 2 * time.Second

// echoes tell messages that one line of a Cluster is the first to hear from those that another has heard: a channel
// that is subscribed at several servers hears each message from all of them.
type echoes struct {
	known map[heardMessage]*heardCounts
	order []heardMessage // by age
}

type heardMessage struct{ channel, message string }

// heardCounts are how often each line has heard a message: the same text may be published again.
type heardCounts struct {
	since  time.Time
	byLine map[*line]int
	most   int
}

// first records that l has heard message, and reports whether it is the first to hear it.
func (e *echoes) first(l *line, channel, message string, now time.Time) bool {
	e.forget(now)
	key := heardMessage{channel, message}
	counts := e.known[key]
	if counts == nil {
		counts = &heardCounts{since: now, byLine: make(map[*line]int)}
		if e.known == nil {
			e.known = make(map[heardMessage]*heardCounts)
		}
		e.known[key] = counts
		e.order = append(e.order, key)
	}
	counts.byLine[l]++
	first := counts.byLine[l] > counts.most
	counts.most = max(counts.most, counts.byLine[l])
	return first
}

// forget drops the messages whose time is over.
func (e *echoes) forget(now time.Time) {
	n := 0
	for n < len(e.order) && now.Sub(e.known[e.order[n]].since) >= echo {
		delete(e.known, e.order[n])
		n++
	}
	e.order = e.order[n:]
}

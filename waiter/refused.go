package waiter

import (
	"math/rand/v2"
	"time"
)

const (
	// firstRetry and lastRetry bound the time after which what a server has refused is tried again. It doubles.
	firstRetry = 50 * time.Millisecond
	lastRetry  = 2 * time.Second
	// group is how many channels are tried again together, every other time, and maxEach how many one by one.
	group   = 50
	maxEach = 100
)

// refused is what a server may not have let be subscribed: it has not been confirmed since it was sent by this
// connection. A refusal does not say of which channels it is, and go-redis keeps a connection on which it came. So what
// is not confirmed is sent again, until it is.
//
// A server that refuses one channel refuses all that are in the same command. So they are sent in small groups, and every
// other time one by one, no more than maxEach of them: a few that are refused for good keep nobody else deaf.
//
// It is guarded by the line's mu.
type refused struct {
	open     map[string]struct{} // channels that were sent, and have not been confirmed
	commands int                 // that were sent, and of which a refusal may come yet
	times    int                 // for how often something was refused since everything was confirmed
	retry    time.Time           // when it is tried again; zero: nothing is
}

// sent records that a channel is subscribed.
func (r *refused) sent(channel string) {
	if r.open == nil {
		r.open = make(map[string]struct{})
	}
	r.open[channel] = struct{}{}
}

// lose records that the connection was lost, on which all of these were subscribed.
func (r *refused) lose(sent map[string]struct{}) {
	r.commands = 0
	for channel := range sent {
		r.sent(channel)
	}
}

// confirm records that a channel is heard.
func (r *refused) confirm(channel string) {
	r.forget(channel)
	if len(r.open) == 0 {
		r.commands, r.times, r.retry = 0, 0, time.Time{}
	}
}

// forget records that a channel is not wanted any more.
func (r *refused) forget(channel string) { delete(r.open, channel) }

// add records a refusal.
func (r *refused) add(now time.Time) {
	r.commands = max(0, r.commands-1)
	if r.retry.IsZero() {
		r.again(now)
	}
}

// again schedules the next try.
func (r *refused) again(now time.Time) {
	pause := min(firstRetry<<min(r.times, 10), lastRetry)
	r.times++
	r.retry = now.Add(pause/2 + rand.N(pause/2))
}

// take returns what is to be sent again by now, in groups with a command each. That goes on until everything is confirmed.
func (r *refused) take(wanted map[string]struct{}, now time.Time) (groups [][]string) {
	if r.retry.IsZero() || now.Before(r.retry) {
		return nil
	}
	r.retry = time.Time{}
	size, most := 1, maxEach
	if r.times%2 == 1 {
		size, most = group, len(r.open)
	}
	if len(r.open) > 0 {
		r.again(now)
	}
	for channel := range r.open {
		if _, ok := wanted[channel]; !ok {
			continue
		}
		if n := len(groups); n > 0 && len(groups[n-1]) < size {
			groups[n-1] = append(groups[n-1], channel)
		} else if n < most {
			groups = append(groups, []string{channel})
		} else {
			break
		}
	}
	return groups
}

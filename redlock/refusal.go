package redlock

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// A refusal is the record of a node that answers, but refuses whatever writes. Like an outage it costs the deployment
// a vote, and no caller notices while a quorum is left. So the log has an entry when it begins and when it is over.
type refusal struct {
	refuses atomic.Bool // since is not zero

	mu     sync.Mutex
	since  time.Time // zero: the node does not refuse
	logged time.Time // when one was last logged; a server at its limit refuses now and then
	told   bool      // the present one was logged
}

const refusalPause = 10 * time.Second

// ofWhole are the refusals that do not depend on the user, the name or the script.
var ofWhole = []string{
	"OOM", "READONLY", "NOREPLICAS", "MISCONF", "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "ERR max number of clients",
}

// noteRefusal records that a node has refused a command that would write, or, if err is nil, that it has written.
func (n *node) noteRefusal(err error) {
	r := &n.refusal
	if err == nil && !r.refuses.Load() {
		return
	}
	var refused redis.Error
	if err != nil && (!errors.As(err, &refused) ||
		!slices.ContainsFunc(ofWhole, func(prefix string) bool { return strings.HasPrefix(refused.Error(), prefix) })) {
		return // it says nothing of the node
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	log, now := n.group.config.Logger, time.Now()
	switch {
	case err != nil:
		if r.since.IsZero() {
			r.since = now
			r.refuses.Store(true)
		}
		if !r.told && now.Sub(r.logged) >= refusalPause {
			r.told, r.logged = true, now
			log.Warn("redlock: a node refuses commands", "node", n.address, "error", err)
		}
	case !r.since.IsZero():
		if r.told {
			log.Info("redlock: a node accepts commands again", "node", n.address, "after", now.Sub(r.since))
		}
		r.since, r.told = time.Time{}, false
		r.refuses.Store(false)
	}
}

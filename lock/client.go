package lock

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/redlock"
)

// A Client gives access to locks over N independent Redis nodes. All locks of a client share its
// connections, its watchdog and its subscriptions: create one per program and set of nodes. It is
// safe for concurrent use. The zero value is not usable; use [NewClient].
type Client struct {
	core

	// Immutable.
	recovery *recovery
	probe    *probe
}

// ID is the prefix of this client's hold ids: a UUID, new for each client.
func (c *Client) ID() string { return c.id }

// releaseTime is more than a node takes for each of many releases in a row.
const releaseTime = 100 * time.Microsecond

// settleTimeouts is for how many node timeouts Close has releases tried again that nodes have not confirmed.
const settleTimeouts = 2

// closeTime is how long Close takes at the most, apart from what many leases add.
func closeTime(nodeTimeout time.Duration) time.Duration { return max(3*time.Second, 12*nodeTimeout) }

// A closing is a tenure that Close ends, and its release.
type closing struct {
	tenure  *tenure
	release *redlock.Ballot
}

// Close releases all held locks, ends every waiting Lock with [ErrClosed], and stops and joins
// everything that the client started, except what a silent server holds up of a [List], or of a question
// for the servers of a Cluster. Leases end with [ErrReleased], which is also an ErrClosed. It
// never closes the nodes' clients. It does not wait for the work under the leases, whose contexts it
// ends: others can have the locks while that work still cleans up. End the work before, or use
// [Client.Shutdown]. A second Close waits for what the first one does at the nodes, and returns nil.
//
// Releases that nodes have yet to confirm, made by Close or by an Unlock before it, are tried again until Close has taken two
// node timeouts, unless the node cannot be reached. After that nobody tries again: a node that has not confirmed a release
// keeps the lock until its key expires. Close returns an error if a lock that it has ended is not free at a quorum by then.
//
// Close takes no longer than about a dozen node timeouts, or three seconds if those are shorter, whatever the
// nodes and the log handler do, plus 100 µs for each held lease.
func (c *Client) Close() error {
	began := time.Now()
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		// Whoever sees its lease end, and closes the client before it ends the program, must not outrun the releases. The
		// limit is for a callback that the first one waits for.
		await(closeTime(c.group.NodeTimeout()), c.gone)
		return nil
	}
	c.closed = true
	c.cut = c.held
	c.calls.close()
	c.drain()
	c.mu.Unlock()
	tenures := c.all()

	// Each step is made for all tenures before the next is made for one: there may be
	// thousands, each with a renewal in flight to a node that is silent.
	var renewing []<-chan struct{}
	var ended []func(time.Duration) closing
	for _, t := range tenures {
		holds, r, did := t.retire()
		if r != nil {
			renewing = append(renewing, r)
		}
		if did {
			ended = append(ended, func(patience time.Duration) closing { return closing{t, t.close(holds, patience)} })
		}
	}
	await(c.group.NodeTimeout(), renewing...) // none may follow a release (trap 21); one that is stuck will find nothing
	releases := make([]closing, len(ended))
	patience := c.group.NodeTimeout() + time.Duration(len(ended))*releaseTime
	for i, release := range ended {
		releases[i] = release(patience)
	}
	for _, r := range releases {
		_ = r.release.Wait(context.Background()) // each is decided within its patience
	}
	c.calls.wait()
	await(c.group.NodeTimeout(), c.idle) // whoever ended another tenure, like one that was lost, cleans up after it
	c.watchdog.Close()
	c.hub.Close()
	c.group.Settle(time.Until(began.Add(settleTimeouts * c.group.NodeTimeout()))) // more would exceed closeTime, if a node is silent then
	var failed error
	for _, r := range releases {
		if err := r.release.Err(); err != nil && !r.tenure.footprint.Gone() && failed == nil {
			failed = fmt.Errorf("lock: a lock was not given back, it ends with its TTL: %w", err)
		}
	}
	c.group.Close()
	close(c.gone) // before those are waited for who may close the client, too
	c.audience.close(c.group.NodeTimeout())
	c.journal.close(c.group.NodeTimeout())
	return failed
}

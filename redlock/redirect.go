package redlock

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// maxMoves bounds how often a command is sent to another server: two servers that name each other
// must not exchange it forever.
const maxMoves = 4

// A move is an op that continues on another lane, after its flight has landed.
type move struct {
	op *op
	to *lane
}

// elsewhere returns the lane by which to send o again, which n answered with err; nil if that is the
// final answer. The ClusterClient follows the redirections of a stray by itself. But it does not know
// that a part of the command can be done while the slot is moving.
func (n *node) elsewhere(o *op, err error) *lane {
	switch {
	case n.of != nil:
		return n.of.shards.redirect(n, o, err)
	case n.shards != nil && isPassing(err) && o.narrows():
		return n.lane
	}
	return nil
}

// instead is elsewhere for an op that was not sent, because n's handshake has failed with err.
func (n *node) instead(o *op, err error) *lane {
	if n.of == nil || !errors.Is(err, redis.ErrClosed) {
		return nil
	}
	return n.of.shards.redirect(n, o, err)
}

// redirect is elsewhere for the shard n. The server did nothing for a command that it redirects.
func (s *shards) redirect(n *node, o *op, err error) *lane {
	if err == nil {
		return nil
	}
	if !isRefusal(err) {
		s.reload() // another may have its slots by now
		if !errors.Is(err, redis.ErrClosed) {
			return nil
		}
	}
	if o.moves++; o.moves > maxMoves {
		return nil
	}
	text := err.Error()
	word, _, _ := strings.Cut(text, " ")
	switch word {
	case "MOVED", "ASK":
		s.reload()
		o.asking = word == "ASK"
		s.mu.RLock()
		to := s.byAddress[redirection(text)]
		s.mu.RUnlock()
		if to != nil {
			return to
		}
		o.asking = false
		if own := s.own(o.key()); own != n.lane {
			return own // whose replica n is, and which has another name in the Cluster
		}
		o.stray = true
		return s.node.lane
	case "TRYAGAIN":
		// The slot is moving, and some of the keys are not where the others are.
		if o.narrows() {
			return n.lane
		}
		return nil
	case "READONLY", "CLUSTERDOWN", "MASTERDOWN", "LOADING":
		s.reload()
		if own := s.own(o.key()); own != n.lane {
			return own // whose replica n is; or it has taken over meanwhile
		}
		return nil
	}
	if errors.Is(err, redis.ErrClosed) {
		// The ClusterClient closes its clients for servers that have left, for good: it makes new ones
		// if they come back. If it has no other client for the key, it is closed itself.
		s.abandon(n.lane)
		if to := s.lane(o.key()); to != n.lane {
			return to
		}
	}
	return nil
}

// redirection returns the address in MOVED and ASK.
func redirection(text string) string {
	return text[strings.LastIndexByte(text, ' ')+1:]
}

package redlock

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// maxMoves bounds how often a command is sent to another server: two that each name the
// other must not have it for ever.
const maxMoves = 4

// A move is an op that is to go on by another lane, with its flight landed.
type move struct {
	op *op
	to *lane
}

// redirect tells by which lane o is to be sent again, which the shard n answered with err;
// nil if that is the answer. The server did nothing for a command that it redirects.
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
		if to == nil {
			o.asking, o.stray = false, true
			to = s.node.lane
		}
		return to
	case "TRYAGAIN":
		// The slot is moving, and some of the keys are not where the others are.
		if o.ballot.motion.Narrow == nil || o.narrow {
			return nil
		}
		o.narrow = true
		return n.lane
	case "READONLY", "CLUSTERDOWN":
		s.reload()
		return nil
	}
	if errors.Is(err, redis.ErrClosed) {
		// The ClusterClient closes what it has for servers that have left. If it has
		// nothing else for the key, it is closed itself.
		if to := s.lane(o.key()); to != n.lane {
			return to
		}
	}
	return nil
}

// redirection is the address in MOVED and ASK.
func redirection(text string) string {
	return text[strings.LastIndexByte(text, ' ')+1:]
}

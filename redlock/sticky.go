package redlock

import (
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// closely is how soon a command has to leave after the one before, so that the connection of that one
	// need not be looked at again.
	closely = time.Millisecond
	// steadily is the number of commands, each closely behind another, from which a connection is
	// kept for the next.
	steadily = 8
	// keepTime is the longest time for which a connection is kept, used or not: others may want it, and
	// the pool learns of its age only when it has it.
	keepTime = 20 * time.Millisecond
	// ample is the number of connections that nobody else uses from which one is kept.
	ample = 4
)

// A sticky connection is one of the client's connections, kept out of its pool while a lane sends
// command after command, each alone. For each, go-redis takes a connection from the pool, asks the
// system whether it is still open, and puts it back: for a lone caller of a near node, that is a
// fifteenth of the time. A connection over which an answer came less than a millisecond ago need not be
// asked: a command on it that fails is no different from one that was already on its way.
//
// The connection goes back to the pool after an error, and soon in any case. It is guarded by the lane's
// mu.
type sticky struct {
	conn   *redis.Conn   // nil: there is none, or a command is under way on it
	client *redis.Client // whose it is
	taken  time.Time     // when it was taken out of the pool
	used   time.Time     // when the last command left that was answered
	row    int           // the number of commands that left closely behind an answered one
}

// stick gives f, which is a single command, the connection over which it should leave; nil: any in
// client's pool. unstick must follow. Called with mu held.
func (l *lane) stick(f *flight, client *redis.Client) {
	f.sticks = true
	f.conn, f.stale = l.sticky.take(l.node, client, f.start)
}

// unstick keeps the connection of f, which has landed, or returns it, if it has to go back to the
// pool. Called with mu held.
func (l *lane) unstick(f *flight, end landing) (stale *redis.Conn) {
	s := &l.sticky
	if end == answered {
		s.used = f.start
	}
	if end == failed || f.conn == nil {
		return f.conn
	}
	s.conn = f.conn
	l.arm(s.idle())
	return nil
}

// take returns the connection for a command that leaves now; or one that has to go back to the pool;
// or neither.
func (s *sticky) take(n *node, client *redis.Client, now time.Time) (conn, stale *redis.Conn) {
	follows := now.Sub(s.used) < closely && s.client == client
	s.client = client
	if !follows {
		s.row = 0
		return nil, s.drop()
	}
	if s.row++; s.row < steadily {
		return nil, nil
	}
	if conn = s.drop(); conn != nil && now.Sub(s.taken) >= keepTime {
		return nil, conn
	}
	if conn == nil {
		if n.spare(client) < ample {
			s.row = 0 // not to look again with each command
			return nil, nil
		}
		conn, s.taken = client.Conn(), now
	}
	return conn, nil
}

// spare returns how many of client's connections nobody uses. It is none if a Conn lacks what the
// client has: go-redis forgets streaming credentials, and empties the client's cache for each Conn.
func (n *node) spare(client *redis.Client) int {
	o := client.Options()
	if o.StreamingCredentialsProvider != nil || o.ClientSideCache != nil || o.ClientSideCacheConfig != nil {
		return 0
	}
	s := client.PoolStats()
	return n.connections() - int(s.TotalConns-s.IdleConns)
}

// drop returns the connection that is kept, or nil, and keeps it no more.
func (s *sticky) drop() (conn *redis.Conn) {
	conn, s.conn = s.conn, nil
	return conn
}

// idle returns when the connection has been idle for long enough to go back to the pool.
func (s *sticky) idle() time.Time { return s.used.Add(keepTime) }

// putBack gives conn, unless it is nil, back to the pool, which closes it if it is broken.
func putBack(conn *redis.Conn) {
	if conn != nil {
		_ = conn.Close()
	}
}

package redlock

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// seekReplica has commands for the silent master of l, which is the one of key, try one of its replicas first. It
// may take over any moment, and the client may be the last to know: to look at the Cluster again, it asks the
// servers it knows in random order, one after the other, and waits for the silent one for as long as it was
// configured to, some 25 seconds if that must be dialled. That is longer than leases last.
//
// A replica redirects each command to its master until it has taken over, so the silent master still receives
// every command, and no command is executed on old data. It is different if the client's connections are for
// reading from replicas (ReadOnly), or if there is no Cluster behind a list of servers (ClusterSlots, as for
// Sentinel): such a replica would answer for itself. So these clients wait.
//
// It runs beside the sweeper, as the client may first ask the replica whether it is loading, and may have to wait for that one, too.
func (s *shards) seekReplica(l *lane, key string) {
	replica := l
	o := s.client.Options()
	if !o.ReadOnly && o.ClusterSlots == nil && s.own(key) == l {
		if other, err := within(s.node.group.ctx, s.node.patience(), func(ctx context.Context) (*redis.Client, error) {
			return s.client.SlaveForKey(ctx, key) // the master itself, if it has none
		}); err == nil {
			replica = s.laneOf(other)
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	client, _ := replica.node.client.(*redis.Client)
	known := s.lanes[client] == replica // or it is retired, and passes on what it receives
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seeking = false
	if replica != l && known && l.isDown() {
		l.replica.Store(replica)
	}
}

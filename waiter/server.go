package waiter

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/server"
)

// After a failover, a client's commands reach another server than before, but a subscription stays where it is for as
// long as its server answers. A server that was cut off from its Sentinels does, and so does one behind an address that
// now leads elsewhere. Nobody publishes there any more.

// watch notes which server each new connection of client, a copy of the user's client, has reached.
func (l *line) watch(client *redis.Client) *redis.Client {
	server.OnConnect(client, func(ctx context.Context, conn *redis.Conn) error {
		id := runID(ctx, conn)
		l.mu.Lock()
		l.server = id
		l.mu.Unlock()
		return nil
	})
	return client
}

// knowsServer reports whether the server can be told from others. Who may not ask it is not to ask again and again.
func (l *line) knowsServer() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server != ""
}

// compare closes pubsub, for the reader to make another, if commands reach another server.
func (l *line) compare(pubsub *redis.PubSub) {
	id := runID(l.ctx, l.commands)
	l.mu.Lock()
	moved := id != "" && id != l.server && pubsub == l.pubsub
	l.moved = l.moved || moved
	l.mu.Unlock()
	if moved {
		l.logger.InfoContext(l.ctx, "waiter: commands reach another server than the subscriptions, which follow", "node", l.name)
		_ = pubsub.Close()
	}
}

// hasMoved reports, once, whether compare has found another server.
func (l *line) hasMoved() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	moved := l.moved
	l.moved = false
	return moved
}

// runID asks a server what distinguishes it from all others; "" if it does not tell.
func runID(ctx context.Context, client redis.Cmdable) string {
	return server.Fields(client.Info(ctx, "server").Val())["run_id"]
}

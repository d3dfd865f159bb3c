// Package server helps packages redlock and waiter to tell which server a client has reached: the
// same address may lead to another one later.
package server

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// OnConnect has client, a copy of the user's client, call greet for each new connection, after what
// the user's own OnConnect does. The user's client and its options stay as they are.
func OnConnect(client *redis.Client, greet func(context.Context, *redis.Conn) error) {
	options := client.Options() // the copy's own
	before := options.OnConnect
	options.OnConnect = func(ctx context.Context, conn *redis.Conn) error {
		if before != nil {
			if err := before(ctx, conn); err != nil {
				return err
			}
		}
		return greet(ctx, conn)
	}
}

// Fields are those of a reply to INFO. Its run_id is what distinguishes a server from all others.
func Fields(text string) map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			all[key] = value
		}
	}
	return all
}

// Package redisbin says which Redis server tests, faults and measurements run on.
package redisbin

import (
	"cmp"
	"os"
)

// Env names the environment variable that holds the server's path, or its name on PATH:
// redis-server of any version, valkey-server, or what else speaks for itself as they do.
// `make test REDIS=…` sets it. Without it the server is redis-server.
const Env = "HOLDFAST_SERVER"

// Name is the server's path or name.
func Name() string { return cmp.Or(os.Getenv(Env), "redis-server") }

package main

import (
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
)

// The workers of a run are processes of this very program.
func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	if beWorker() || beHolder() {
		return
	}
	os.Exit(m.Run())
}

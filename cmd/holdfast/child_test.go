package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

const (
	childEnv = "TEST_CHILD_SERVER"
	keyEnv   = "TEST_CHILD_KEY"
)

// heartbeat counts signs of life of a command on the server, and at once whether its lock is still there: nobody's clock
// but the server's decides.
var heartbeat = redis.NewScript(`
	redis.call('SET', 'pid', ARGV[2])
	if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
		return redis.call('INCR', 'with')
	end
	return redis.call('INCR', 'without')`)

// beChild is a command that tells the server that it lives, and ignores SIGTERM.
func beChild() bool {
	server := os.Getenv(childEnv)
	if server == "" {
		return false
	}
	term := make(chan os.Signal, 10)
	signal.Notify(term, syscall.SIGTERM)
	rdb := redis.NewClient(&redis.Options{Addr: server})
	ctx := context.Background()
	for {
		if err := heartbeat.Run(ctx, rdb, []string{os.Getenv(keyEnv)}, os.Getenv("HOLDFAST_ID"), os.Getpid()).Err(); err != nil {
			fmt.Fprintln(os.Stderr, "heartbeat:", err)
			os.Exit(1)
		}
		select {
		case <-term:
			left, err := rdb.PTTL(ctx, os.Getenv(keyEnv)).Result()
			if err == nil {
				err = rdb.RPush(ctx, "terms", left.Milliseconds()).Err()
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "term:", err)
				os.Exit(1)
			}
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// A stubborn is a holdfast whose command is such a child.
type stubborn struct {
	*process
	rdb *redis.Client // the server's own, past any proxy
}

// beginStubborn returns when the command runs.
func beginStubborn(t *testing.T, server *redistest.Server, url, name string, args ...string) *stubborn {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	args = append(append(append([]string{"run"}, args...), name), "--", self)
	cmd := command(t, url, args...)
	cmd.Path = self
	cmd.Env = append(cmd.Env, holdfastEnv+"=1", childEnv+"="+server.Addr(), keyEnv+"=lock:{"+name+"}")
	s := &stubborn{begin(t, cmd), server.Client(t)}
	redistest.Eventually(t, longest, func() bool { return s.count("with") > 0 }, "the command does not run")
	return s
}

func (s *stubborn) count(key string) int {
	s.t.Helper()
	n, err := s.rdb.Get(s.t.Context(), key).Int()
	if err != nil {
		require.ErrorIs(s.t, err, redis.Nil)
	}
	return n
}

// terms waits for as many SIGTERMs as that, and returns what the key had left when they came, in milliseconds.
func (s *stubborn) terms(n int64) []string {
	s.t.Helper()
	redistest.Eventually(s.t, longest, func() bool { return s.rdb.LLen(s.t.Context(), "terms").Val() >= n }, "no SIGTERM came")
	return s.rdb.LRange(s.t.Context(), "terms", 0, -1).Val()
}

func (s *stubborn) pid() int { return s.count("pid") }

// lines are what was printed, without the empty ones.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

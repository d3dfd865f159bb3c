package reentrant_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/reentrant"
)

// A command that was renamed will not come back by waiting.
func TestCommandThatTheServerDoesNotHaveIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"TIME", "HSET", "PEXPIRE", "INCR", "SET"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, "--rename-command", command, "")
			locks := newClient(t, []redis.UniversalClient{s.Client(t)})
			ctx, cancel := context.WithTimeout(bg, within)
			defer cancel()
			m := reentrant.New(locks, "orders")
			lease, err := m.Lock(ctx)
			if err == nil { // it is needed for a name that has been locked before
				require.NoError(t, lease.Unlock(bg))
				_, err = m.Lock(ctx)
			}
			require.NoError(t, ctx.Err(), "it was found at once")
			var unknown *lua.UnknownCommandError
			require.ErrorAs(t, err, &unknown)
			require.Equal(t, command, unknown.Command)
			require.ErrorContains(t, err, s.Addr()+": the server does not have the command "+command)
			if tells, _ := s.Client(t).Eval(bg, "return redis.acl_check_cmd and 1 or 0", nil).Bool(); tells {
				health := locks.Health(bg)[0]
				require.False(t, health.Votes)
				require.ErrorContains(t, health.Err, "the server does not have the command "+command)
			}
			redistest.Eventually(t, within, func() bool {
				return s.Client(t).Exists(bg, "lock:{orders}").Val() == 0
			}, "nothing is left")
		})
	}
}

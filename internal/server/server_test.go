package server_test

import (
	"context"
	"errors"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/server"
)

var bg = context.Background()

// The user's own OnConnect, which may select or authenticate, comes first, and the user's client stays as it was.
func TestTheUsersOwnOnConnectComesFirst(t *testing.T) {
	s := miniredis.RunT(t)
	var calls []string
	refusal := errors.New("refused")
	var refuses bool
	users := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, OnConnect: func(context.Context, *redis.Conn) error {
		calls = append(calls, "the user's")
		if refuses {
			return refusal
		}
		return nil
	}})
	t.Cleanup(func() { _ = users.Close() })
	ours := users.WithTimeout(users.Options().ReadTimeout)
	server.OnConnect(ours, func(context.Context, *redis.Conn) error {
		calls = append(calls, "ours")
		return nil
	})
	conn := ours.Conn()
	t.Cleanup(func() { _ = conn.Close() }) // until then the next command needs another one
	require.NoError(t, conn.Ping(bg).Err())
	require.Equal(t, []string{"the user's", "ours"}, calls)

	calls = nil
	require.NoError(t, users.Options().OnConnect(bg, nil))
	require.Equal(t, []string{"the user's"}, calls)

	calls, refuses = nil, true
	require.ErrorIs(t, ours.Ping(bg).Err(), refusal)
	require.NotContains(t, calls, "ours")
}

func TestFieldsOfInfo(t *testing.T) {
	require.Equal(t, map[string]string{"run_id": "a", "config_file": "", "time": "1:2"},
		server.Fields("# Server\r\nrun_id:a\r\n\r\nconfig_file:\r\ntime:1:2\r\n"))
	require.Empty(t, server.Fields(""))
}

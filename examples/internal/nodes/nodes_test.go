package nodes

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func TestWithoutTheFlagTheNodesAreEmbedded(t *testing.T) {
	var out bytes.Buffer
	pinged := 0
	err := execute(t.Context(), []string{"example"}, 3, func(ctx context.Context, set *Set, _ *story.Teller) error {
		for _, c := range set.Clients() {
			require.NoError(t, c.Ping(ctx).Err())
			pinged++
		}
		return nil
	}, &out, &out)
	require.NoError(t, err)
	require.Equal(t, 3, pinged)
	require.Contains(t, out.String(), "On 3 Redis nodes embedded in this program")
}

func TestTheFlagNamesRealNodes(t *testing.T) {
	servers := redistest.StartN(t, 2)
	list := servers[0].Addr() + ", " + servers[1].Addr()
	var out bytes.Buffer
	err := execute(t.Context(), []string{"example", "-redis", list}, 5, func(ctx context.Context, set *Set, _ *story.Teller) error {
		require.Len(t, set.Clients(), 2)
		return set.Clients()[1].Set(ctx, "here", 1, 0).Err()
	}, &out, &out)
	require.NoError(t, err)
	require.Equal(t, []string{"here"}, servers[1].Keys(t))
	require.Contains(t, out.String(), "On 2 Redis nodes at "+list+".")
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"example", "-redis", "a:1,,b:2"}, {"example", "-nodes", "3"}, {"example", "localhost:6379"}} {
		var out bytes.Buffer
		err := execute(t.Context(), args, 1, func(context.Context, *Set, *story.Teller) error {
			t.Error("the example ran")
			return nil
		}, &out, &out)
		require.Error(t, err)
		require.Empty(t, out.String(), "whoever gets the error tells it")
	}
}

func TestHelpIsPrinted(t *testing.T) {
	var out, help bytes.Buffer
	err := execute(t.Context(), []string{"example", "-h"}, 1, nil, &out, &help)
	require.ErrorIs(t, err, flag.ErrHelp)
	require.Contains(t, help.String(), "-redis host:port")
	require.Empty(t, out.String())
}

func TestATakenNodeIsUnreachable(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		set, err := Embed(2)
		require.NoError(t, err)
		defer set.Close()
		testTake(t, set, "node 1 is killed")
	})
	t.Run("real", func(t *testing.T) {
		servers := redistest.StartN(t, 2)
		set := Connect(redistest.Addrs(servers))
		defer set.Close()
		testTake(t, set, "node 1 is cut off: this program's connections to it are gone")
		// For everybody else it is still there.
		require.NoError(t, servers[0].Client(t).Ping(t.Context()).Err())
	})
}

func testTake(t *testing.T, set *Set, said string) {
	for _, c := range set.Clients() {
		require.NoError(t, c.Ping(t.Context()).Err())
	}
	require.Equal(t, said, set.Take(0))
	err := set.Clients()[0].Ping(t.Context()).Err()
	var refusal redis.Error
	require.Error(t, err)
	require.False(t, errors.As(err, &refusal), "the server answered: %v", err)
	require.NoError(t, set.Clients()[1].Ping(t.Context()).Err())
}

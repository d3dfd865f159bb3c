package lock_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// listed is what a list told: the names in order, and what went wrong.
type listed struct {
	names   []string
	entries map[string]lock.Entry
	errs    []error
}

func list(ctx context.Context, c *lock.Client, pattern string) (l listed) {
	l.entries = make(map[string]lock.Entry)
	for e, err := range lock.List(ctx, c, pattern) {
		if err != nil {
			l.errs = append(l.errs, err)
			continue
		}
		l.names = append(l.names, e.Name)
		l.entries[e.Name] = e
	}
	slices.Sort(l.names)
	return l
}

// hold has nodes have a hold of each name, as if somebody else had taken it.
func hold(t *testing.T, nodes []redis.UniversalClient, prefix string, names ...string) {
	t.Helper()
	for _, node := range nodes {
		_, err := node.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for _, name := range names {
				k, err := lua.NewKeys(prefix, name)
				require.NoError(t, err)
				p.HSet(t.Context(), k.Lock, "holder:1", 1)
				p.PExpire(t.Context(), k.Lock, time.Hour)
				p.Set(t.Context(), k.Token(), 7, time.Hour)
				p.Set(t.Context(), k.Note(), "about another hold", time.Hour)
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// queue has nodes have a waiter for name.
func queue(t *testing.T, nodes []redis.UniversalClient, prefix, name string) {
	t.Helper()
	k, err := lua.NewKeys(prefix, name)
	require.NoError(t, err)
	for _, node := range nodes {
		now := time.Now()
		require.NoError(t, node.ZAdd(t.Context(), k.Queue(), redis.Z{Score: 1, Member: "waiter:1"}).Err())
		require.NoError(t, node.HSet(t.Context(), k.Waiters(), "waiter:1",
			fmt.Sprint(now.Add(time.Hour).UnixMicro(), " ", now.UnixMicro())).Err())
	}
}

func newClient(t *testing.T, nodes []redis.UniversalClient, opts ...lock.ClientOption) *lock.Client {
	t.Helper()
	c, err := lock.NewClient(nodes, append([]lock.ClientOption{unhurried}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestListTellsWhatIsHeldOrWaitedForOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("N=%d", n), func(t *testing.T) {
			t.Parallel()
			nodes := redistest.Clients(t, redistest.StartN(t, n))
			const prefix = `l*[k]\?`
			c := newClient(t, nodes, lock.WithPrefix(prefix))
			held := []string{"orders:1", "orders:{2}:items", "{orders}:3", "or*ers", "or[d]ers", "token", "a:queue", "a{b"}
			slices.Sort(held)
			hold(t, nodes, prefix, held...)
			lease, err := reentrant.New(c, "mine").Lock(t.Context())
			require.NoError(t, err)
			quorum, minority := nodes[n-n/2-1:], nodes[:n-n/2-1]
			hold(t, quorum, prefix, "by the last nodes")
			hold(t, minority, prefix, "by a minority")
			queue(t, nodes, prefix, "orders:waited for")
			queue(t, nodes, prefix, "orders:1")
			queue(t, minority, prefix, "waited for on a minority")
			hold(t, nodes, "lock", "of another prefix")
			hold(t, nodes, `lxk\x`, "that the prefix would match as a pattern")
			for _, node := range nodes {
				free, err := lua.NewKeys(prefix, "free")
				require.NoError(t, err)
				require.NoError(t, node.Set(t.Context(), free.Token(), 3, 0).Err())
				require.NoError(t, node.Set(t.Context(), prefix+":no lock", "", 0).Err())
			}

			l := list(t.Context(), c, "")
			require.Empty(t, l.errs)
			want := append([]string{"by the last nodes", "mine", "orders:waited for"}, held...)
			slices.Sort(want)
			require.Equal(t, want, l.names)
			require.Equal(t, lease.ID(), l.entries["mine"].State.Holder)
			require.Equal(t, "holder:1", l.entries["orders:1"].State.Holder)
			require.Equal(t, []string{"waiter:1"}, l.entries["orders:1"].State.Queue)
			require.False(t, l.entries["orders:waited for"].State.Held)
			require.Equal(t, []string{"waiter:1"}, l.entries["orders:waited for"].State.Queue)

			for pattern, want := range map[string][]string{
				"*":              want,
				"orders:?":       {"orders:1"},
				"*orders*":       {"orders:1", "orders:waited for", "orders:{2}:items", "{orders}:3"},
				"orders:*s":      {"orders:{2}:items"},
				`or\*ers`:        {"or*ers"},
				`or\[d]ers`:      {"or[d]ers"},
				"or*ers":         {"or*ers", "or[d]ers"},
				"{*":             {"{orders}:3"},
				"toke[^m]":       {"token"},
				"*:queue":        {"a:queue"},
				"nobody's":       nil,
				"*}":             nil,
				"orders:1:queue": nil,
			} {
				l := list(t.Context(), c, pattern)
				require.Empty(t, l.errs, pattern)
				require.Equal(t, want, l.names, pattern)
			}
		})
	}
}

func TestListTellsAThousandNames(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprintf("N=%d", n), func(t *testing.T) {
			t.Parallel()
			nodes := redistest.Clients(t, redistest.StartN(t, n))
			c := newClient(t, nodes)
			names := make([]string, 1000)
			for i := range names {
				names[i] = fmt.Sprintf("orders:%03d", i)
			}
			hold(t, nodes, "lock", names...)
			l := list(t.Context(), c, "orders:*")
			require.Empty(t, l.errs)
			require.Equal(t, names, l.names)
		})
	}
}

func TestListTellsTheNamesOfEveryMasterOfACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	nodes := []redis.UniversalClient{cluster.Client(t)}
	c := newClient(t, nodes)
	first := 0 // by address, in which order they are scanned
	for i, s := range cluster.Servers {
		if s.Addr() < cluster.Servers[first].Addr() {
			first = i
		}
	}
	var names, left []string
	for shard := range cluster.Servers {
		for n := range 5 {
			name := cluster.Name(t, shard, n, "orders ")
			names = append(names, name, "{"+name+"}:items")
			if shard != first {
				left = append(left, name, "{"+name+"}:items")
			}
		}
	}
	slices.Sort(names)
	slices.Sort(left)
	hold(t, nodes, "lock", names...)
	l := list(t.Context(), c, "*orders*")
	require.Empty(t, l.errs)
	require.Equal(t, names, l.names)

	cluster.Servers[first].Kill()
	l = list(t.Context(), c, "*orders*")
	require.Equal(t, left, l.names)
	require.Len(t, l.errs, 2)
	require.ErrorContains(t, l.errs[0], cluster.Servers[first].Addr())
	require.NotErrorIs(t, l.errs[0], lock.ErrNoQuorum)
	require.ErrorIs(t, l.errs[1], lock.ErrNoQuorum, "what that master has is missing")
}

// A ClusterClient that is not told which masters there are now, as by a Sentinel that is stuck, has been told before.
func TestListGoesOnWithTheMastersThatWereTold(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	stuck, goes := make(chan struct{}), make(chan struct{})
	node := redis.NewClusterClient(&redis.ClusterOptions{
		ReadTimeout: time.Second,
		ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
			select {
			case <-stuck:
				<-goes // whatever the context says, as a go-redis client that is reading
			default:
			}
			return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: server.Addr()}}}}, nil
		},
		Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, server.Addr()) // go-redis takes loopback addresses away
		},
	})
	t.Cleanup(func() { _ = node.Close() })
	c := newClient(t, []redis.UniversalClient{node}, lock.WithNodeTimeout(time.Second))
	hold(t, []redis.UniversalClient{node}, "lock", "orders:1")
	end := sync.OnceFunc(func() { close(goes) })
	t.Cleanup(end)
	close(stuck)
	l := list(t.Context(), c, "")
	require.Equal(t, []string{"orders:1"}, l.names)
	require.Len(t, l.errs, 2)
	require.ErrorContains(t, l.errs[0], "which masters it has now: no answer")
	require.ErrorIs(t, l.errs[1], lock.ErrNoQuorum, "another master would be missing")
	end()
	require.Empty(t, list(t.Context(), c, "").errs)
}

func TestListGoesOnWithoutAMinorityOfNodes(t *testing.T) {
	t.Parallel()
	servers := redistest.StartN(t, 3)
	nodes := redistest.Clients(t, servers)
	c := newClient(t, nodes)
	hold(t, nodes, "lock", "orders:1")
	hold(t, nodes[1:], "lock", "orders:2")
	servers[0].Kill()
	l := list(t.Context(), c, "")
	require.Equal(t, []string{"orders:1", "orders:2"}, l.names)
	require.Len(t, l.errs, 1)
	require.ErrorContains(t, l.errs[0], servers[0].Addr())
	require.NotErrorIs(t, l.errs[0], lock.ErrNoQuorum)
	require.Equal(t, lock.StatusHeld, l.entries["orders:2"].State.Status)

	servers[1].Kill()
	var unsure []string
	var last error
	for e, err := range lock.List(t.Context(), c, "") {
		if e.Name != "" {
			require.ErrorIs(t, err, lock.ErrNoQuorum)
			require.Equal(t, lock.StatusUnknown, e.State.Status)
			unsure = append(unsure, e.Name)
		}
		last = err
	}
	require.ElementsMatch(t, []string{"orders:1", "orders:2"}, unsure)
	require.ErrorIs(t, last, lock.ErrNoQuorum)
	require.ErrorContains(t, last, "list: list: no quorum: 1 of 3 nodes agreed")
}

func TestListRefusesWhatIsNoPattern(t *testing.T) {
	t.Parallel()
	c := newClient(t, redistest.Clients(t, redistest.StartN(t, 1)))
	for pattern, want := range map[string]string{
		"\xff":                     "not valid UTF-8",
		strings.Repeat("x", 1025):  "1025 bytes long",
		`orders\`:                  "ends with a backslash",
		"orders[12":                "has a [ without its ]",
		"orders[1-]":               "has a [ without its ]", // a range, as Redis reads it
		strings.Repeat("[a]", 400): "1200 bytes long",
	} {
		l := list(t.Context(), c, pattern)
		require.Empty(t, l.names)
		require.Len(t, l.errs, 1)
		require.ErrorContains(t, l.errs[0], want)
	}
	l := list(t.Context(), nil, "")
	require.Len(t, l.errs, 1)
	require.ErrorContains(t, l.errs[0], "the client is nil")
}

func TestALoopOverAListMayEndAndMayCloseTheClient(t *testing.T) {
	t.Parallel()
	nodes := redistest.Clients(t, redistest.StartN(t, 1))
	c := newClient(t, nodes)
	for i := range 100 {
		hold(t, nodes, "lock", fmt.Sprint("orders:", i))
	}
	told := 0
	for _, err := range lock.List(t.Context(), c, "") {
		require.NoError(t, err)
		if told++; told == 3 {
			break
		}
	}
	require.Equal(t, 3, told)
	var last error
	told = 0
	for e, err := range lock.List(t.Context(), c, "") {
		if last = err; e.Name != "" {
			told++
		}
		closed := make(chan error, 1)
		go func() { closed <- c.Close() }()
		select {
		case err := <-closed:
			require.NoError(t, err)
		case <-time.After(time.Minute / 2):
			t.Fatal("Close waits for the loop")
		}
	}
	require.ErrorIs(t, last, lock.ErrClosed)
	require.Less(t, told, 100)
}

// What a pattern means is what Redis says.
func TestPatternsMatchAsRedisHasThem(t *testing.T) {
	t.Parallel()
	const seeds, letters = 2000, `aab*?[]^-\`
	server := redistest.Start(t).Client(t)
	nodes := []redis.UniversalClient{server}
	c := newClient(t, nodes)
	dice := rand.New(rand.NewPCG(1, 2))
	text := func(from string, most int) string {
		var s strings.Builder
		for range 1 + dice.IntN(most) {
			s.WriteByte(from[dice.IntN(len(from))])
		}
		return s.String()
	}
	for range 40 {
		name := text(letters, 5)
		hold(t, nodes, "lock", name)
		require.NoError(t, server.Set(t.Context(), "plain:"+name, "", 0).Err())
	}
	compared := 0
	for range seeds {
		pattern := text(letters, 7)
		l := list(t.Context(), c, pattern)
		if l.errs != nil {
			continue // Redis makes something of any pattern
		}
		want, err := server.Keys(t.Context(), "plain:"+pattern).Result()
		require.NoError(t, err)
		for i := range want {
			want[i] = strings.TrimPrefix(want[i], "plain:")
		}
		slices.Sort(want)
		require.ElementsMatch(t, want, l.names, pattern)
		if want != nil {
			compared++
		}
	}
	require.Greater(t, compared, seeds/10)
}

func TestAServerThatDoesNotLetAUserScanIsToldOf(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := server.Client(t)
	require.NoError(t, admin.Do(t.Context(), "ACL", "SETUSER", "app", "on", "nopass", "~*", "&*", "+@all", "-scan").Err())
	c := newClient(t, []redis.UniversalClient{server.Client(t, func(o *redis.Options) { o.Username, o.Password = "app", "x" })})
	l := list(t.Context(), c, "")
	require.Len(t, l.errs, 2)
	require.ErrorContains(t, l.errs[0], "NOPERM")
	require.ErrorIs(t, l.errs[1], lock.ErrNoQuorum)
	var refusal redis.Error
	require.True(t, errors.As(l.errs[0], &refusal))
}

// Of a semaphore every node may name its holders in an order of its own.
func TestListTellsOfASemaphoreWhoHasIt(t *testing.T) {
	servers := redistest.StartN(t, 3)
	nodes := redistest.Clients(t, servers)
	clients := []*lock.Client{
		newClient(t, nodes, lock.WithLabel("the only one")), newClient(t, nodes, lock.WithLabel("the only one")), newClient(t, nodes, lock.WithLabel("the only one")),
	}
	var ids []string
	slotOf := make(map[string]string)
	for _, c := range clients {
		p, err := semaphore.New(c, "stock", 3).TryAcquire(t.Context(), 1)
		require.NoError(t, err)
		ids = append(ids, p.ID())
		slotOf[p.ID()] = strconv.Itoa(p.Slots()[0])
	}
	slices.Sort(ids)
	k, err := lua.NewKeys("lock", "stock")
	require.NoError(t, err)
	for i, node := range nodes {
		// A node that has granted another slot is told to take it back, and then which one it is.
		redistest.Eventually(t, time.Minute, func() bool {
			records := node.HGetAll(t.Context(), k.Slots()).Val()
			return node.HLen(t.Context(), k.Lock).Val() == 3 && !slices.ContainsFunc(ids, func(id string) bool {
				_, slot, _ := strings.Cut(records[id], " ")
				return slot != slotOf[id]
			})
		}, "each node has all")
		for _, id := range ids[:i] { // so each has another one first
			require.NoError(t, node.HDel(t.Context(), k.Lock, id).Err())
			require.NoError(t, node.HSet(t.Context(), k.Lock, id, 1).Err())
		}
	}
	redistest.Eventually(t, time.Minute, func() bool {
		e := list(t.Context(), clients[0], "").entries["stock"]
		return e.State.Label == "the only one" && e.State.HeldFor > 0
	}, "its label is told")
	l := list(t.Context(), clients[0], "")
	require.Empty(t, l.errs)
	require.Equal(t, []string{"stock"}, l.names)
	s := l.entries["stock"].State
	require.Equal(t, lock.StatusHeld, s.Status)
	require.Equal(t, ids[0], s.Holder)
	require.Equal(t, ids, s.Readers)
	require.Positive(t, s.TTL)
	for _, n := range s.Nodes {
		require.Equal(t, ids, n.Readers)
	}
}

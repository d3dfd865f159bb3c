package waiter_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// soon is several times what a line takes to find out that it is dead.
const soon = 30 * time.Second

// met returns a client that has met its Cluster.
func met(t *testing.T, cluster *redistest.Cluster) *redis.ClusterClient {
	client := cluster.Client(t)
	require.NoError(t, client.Ping(context.Background()).Err())
	return client
}

// A Cluster is one node, and each of its shards has connections of its own: one that is stuck
// holds up no message about a name of another, and no new subscription. What was subscribed there
// is soon heard elsewhere.
func TestAStuckShardHoldsUpNoOthersMessages(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	h := newHub(t, met(t, cluster))
	stuck := cluster.Name(t, 2, 0, "orders ")
	_, deaf := listen(t, h, stuck) // before all others
	ears := make(map[string]*ear)
	for shard := range 2 {
		name := cluster.Name(t, shard, 0, "orders ")
		_, ears[name] = listen(t, h, name)
	}
	well := cluster.Servers[0].Client(t)
	cluster.Servers[2].Pause()
	for name, e := range ears {
		publish(t, well, name, "release")
		redistest.Eventually(t, soon, func() bool { return len(e.all()) > 0 }, "it is heard")
		require.Equal(t, []string{"release"}, e.all(), "by a connection that works")
	}
	late := cluster.Name(t, 1, 1, "orders ")
	_, e := listen(t, h, late)
	publish(t, well, late, "release")
	e.waitFor(t, "release")
	redistest.Eventually(t, soon, func() bool {
		publish(t, well, stuck, "release")
		return deaf.count("release") > 0
	}, "after four seconds: a ping, and no pong")
}

// So it is with a channel whose messages are published at another master than its own.
func TestAChannelIsHeardNearWhereItsMessagesArePublished(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	h := newHub(t, met(t, cluster))
	channel := cluster.Name(t, 2, 0, "client ")
	_, e := listen(t, h, channel)
	near := cluster.Name(t, 0, 0, "orders ")
	h.Near(channel, near)
	well := cluster.Servers[0].Client(t)
	redistest.Eventually(t, soon, func() bool {
		return well.PubSubNumSub(context.Background(), channel).Val()[channel] == 1
	}, "it is subscribed there")
	cluster.Servers[2].Pause()
	require.NoError(t, well.Publish(context.Background(), channel, "release").Err())
	e.waitFor(t, "release") // its own master forwards nothing
	require.Equal(t, 1, e.count("release"))
}

// One whose master is gone does not, either.
func TestAMasterThatIsGoneIsListenedToElsewhere(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	h := newHub(t, met(t, cluster))
	name := cluster.Name(t, 1, 0, "orders ")
	_, e := listen(t, h, name)
	cluster.Servers[1].Kill()
	well := cluster.Servers[0].Client(t)
	redistest.Eventually(t, soon, func() bool {
		publish(t, well, name, "release")
		return e.count("release") > 0
	}, "it is heard by another")
	_, late := listen(t, h, cluster.Name(t, 1, 1, "orders "))
	require.Empty(t, late.all())
}

// A master that has left its Cluster stays up, and answers, and hears of nothing any more.
func TestAMasterThatHasLeftTheClusterIsNotListenedTo(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	client := met(t, cluster)
	h := newHub(t, client)
	name := cluster.Name(t, 1, 0, "orders ")
	_, e := listen(t, h, name)
	cluster.Leave(t, 1, 0)
	well := cluster.Servers[0].Client(t)
	redistest.Eventually(t, soon, func() bool {
		client.ReloadState(bg)
		publish(t, well, name, "release")
		return e.count("release") > 0
	}, "it is heard from who has its slot now")
	require.Zero(t, listeners(t, cluster.Servers[1].Client(t), name))
}

// Who waits for a lock has others wait for it while it subscribes: it asks no server for anything.
func TestASubscriptionWaitsForNoServer(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	h := newHub(t, met(t, cluster))
	stuck, late := cluster.Name(t, 2, 0, "orders "), cluster.Name(t, 2, 1, "orders ")
	_, deaf := listen(t, h, stuck)
	well := cluster.Servers[0].Client(t)
	cluster.Servers[2].Pause()
	redistest.Eventually(t, soon, func() bool {
		publish(t, well, stuck, "release")
		return deaf.count("release") > 0
	}, "it is listened to at another master")
	for _, s := range cluster.Servers[:2] {
		s.Pause()
	}
	began := time.Now()
	h.Subscribe(late, func(string) {}) // its own master is avoided
	require.Less(t, time.Since(began), time.Second, "a server that is stuck is waited for for longer")
}

// Nor does it if the Cluster has never answered. Once it answers, everything is heard.
func TestASubscriptionDoesNotWaitToMeetTheCluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	var names []string
	for i := range 3 {
		names = append(names, cluster.Name(t, i, 0, "orders "))
	}
	for _, s := range cluster.Servers {
		s.Pause()
	}
	h := newHub(t, cluster.Client(t))
	var ears []*ear
	began := time.Now()
	for _, name := range names {
		e := new(ear)
		h.Subscribe(name, e.wake)
		h.Near(names[0], name)
		ears = append(ears, e)
	}
	require.Less(t, time.Since(began), time.Second, "a server that is stuck is waited for for longer")
	redistest.Eventually(t, soon, func() bool {
		asked := time.Now()
		h.Near(names[1], names[0])
		require.Less(t, time.Since(asked), time.Second)
		return asked.Sub(began) > 12*time.Second
	}, "lines are given up meanwhile")
	for _, s := range cluster.Servers {
		s.Resume()
	}
	well := met(t, cluster)
	for i, e := range ears {
		redistest.Eventually(t, soon, func() bool {
			publish(t, well, names[i], "release")
			return e.count("release") > 0
		}, "it is heard")
	}
}

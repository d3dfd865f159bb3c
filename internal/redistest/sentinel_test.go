package redistest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFailoverMakesTheReplicaMaster(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t)
	c := s.Client(t)
	require.NoError(t, c.Set(bg, "k", 1, 0).Err())
	Eventually(t, within, func() bool { return len(s.Replica.Keys(t)) == 1 }, "the write is replicated")
	require.Equal(t, "slave", s.Replica.Info(t, "replication", "role"))

	s.Failover(t)
	require.Equal(t, "master", s.Replica.Info(t, "replication", "role"))
	Eventually(t, within, func() bool { return c.Set(bg, "after", 1, 0).Err() == nil }, "the client follows")
	Eventually(t, within, func() bool { return len(s.Master.Keys(t)) == 2 }, "the old master follows")

	s.Failover(t)
	require.Equal(t, "master", s.Master.Info(t, "replication", "role"))
}

func TestSentinelReplacesADeadMaster(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t)
	s.Master.Kill()
	Eventually(t, within, func() bool {
		return s.Replica.Info(t, "replication", "role") == "master"
	}, "the replica takes over")
}

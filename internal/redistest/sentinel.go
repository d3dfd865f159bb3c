package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// MasterName is the name under which a [Sentinel] knows its master.
	MasterName = "holdfast"

	sentinelWithin = 30 * time.Second

	// How long a master must be silent before it is replaced: short for the sake of
	// tests that kill it, but not so short that a busy machine loses its master.
	sentinelDownAfter = 2 * time.Second
)

// Sentinel is a master with one replica, watched over by one sentinel that decides
// alone.
type Sentinel struct {
	// Master and Replica name the roles at the start; they do not change places in a
	// failover.
	Master, Replica *Server

	Sentinel *Server
}

// StartSentinel starts the three and returns when the replica is in step and the
// sentinel could promote it.
func StartSentinel(t testing.TB) *Sentinel {
	t.Helper()
	// Masters wait five seconds for further replicas before they begin to sync.
	quick := []string{"--repl-diskless-sync-delay", "0"}
	s := &Sentinel{Master: Start(t, quick...)}
	s.Replica = Start(t, append(quick, "--replicaof", host+" "+fmt.Sprint(s.Master.Port()))...)
	// Before the sentinel starts: it asks the master for its replicas at once, and
	// then only every ten seconds.
	Eventually(t, sentinelWithin, func() bool {
		return s.Replica.Info(t, "replication", "master_link_status") == "up" &&
			s.Master.Info(t, "replication", "connected_slaves") == "1"
	}, "replication is connected")

	s.Sentinel = startSentinelProcess(t, s.Master)
	s.hurry()
	s.waitReplica(t)
	return s
}

// hurry shortens the sentinel's rounds, where the server's version allows it.
//
// Replicas are asked for INFO every second instead of every ten. Not more often:
// they count as unfit when their last answer is older than three rounds, and while
// the master is down a round takes a second in any case. The ping period is left
// alone for the same reason. A returning master is demoted after four rounds of
// publishing.
func (s *Sentinel) hurry() {
	_ = s.ask(func(ctx context.Context, c *redis.SentinelClient) error {
		return c.Process(ctx, redis.NewStatusCmd(ctx, "SENTINEL", "DEBUG", "info-period", 1000, "publish-period", 250))
	})
}

func startSentinelProcess(t testing.TB, master *Server) *Server {
	t.Helper()
	return StartSentinelWith(t, fmt.Sprintf(`sentinel monitor %[1]s %[2]s %[3]d 1
sentinel down-after-milliseconds %[1]s %[4]d
sentinel failover-timeout %[1]s 5000
`, MasterName, host, master.Port(), sentinelDownAfter.Milliseconds()))
}

// StartSentinelWith starts a sentinel alone, with this configuration and further arguments, for what
// [StartSentinel] does not have, such as several masters. It returns when the sentinel answers.
func StartSentinelWith(t testing.TB, config string, args ...string) *Server {
	t.Helper()
	// In a file that may be written to, since a sentinel keeps its state there.
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatalf("redistest: sentinel: %v", err)
	}
	return startN(t, 1, sentinelLine(file, args))[0]
}

// sentinelLine leaves the options for data out: a sentinel has none.
func sentinelLine(config string, args []string) func(*Server) []string {
	return func(s *Server) []string {
		line := []string{config, "--port", fmt.Sprint(s.port), "--bind", host, "--dir", s.dir}
		return append(append(line, args...), "--sentinel")
	}
}

// Client returns a failover client with go-redis's own defaults, except for what
// change does to them. It is closed when t ends.
func (s *Sentinel) Client(t testing.TB, change ...func(*redis.FailoverOptions)) *redis.Client {
	t.Helper()
	opts := &redis.FailoverOptions{MasterName: MasterName, SentinelAddrs: []string{s.Sentinel.Addr()}}
	for _, f := range change {
		f(opts)
	}
	c := redis.NewFailoverClient(opts)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Failover makes the present replica the master by SENTINEL FAILOVER, and returns
// when it is and the sentinel says so. It waits neither for clients to notice nor for
// the old master to become a replica.
func (s *Sentinel) Failover(t testing.TB) {
	t.Helper()
	s.waitReplica(t)
	next := s.Replica
	if s.master(t) == next.Addr() {
		next = s.Master
	}
	err := s.ask(func(ctx context.Context, c *redis.SentinelClient) error { return c.Failover(ctx, MasterName).Err() })
	if err != nil {
		t.Fatalf("redistest: SENTINEL FAILOVER: %v", err)
	}
	Eventually(t, sentinelWithin, func() bool {
		return next.Info(t, "replication", "role") == "master" && s.master(t) == next.Addr()
	}, "%s is the master", next.Addr())
}

// master returns the address that clients are given.
func (s *Sentinel) master(t testing.TB) string {
	t.Helper()
	var addr []string
	err := s.ask(func(ctx context.Context, c *redis.SentinelClient) (err error) {
		addr, err = c.GetMasterAddrByName(ctx, MasterName).Result()
		return err
	})
	if err != nil || len(addr) != 2 {
		t.Fatalf("redistest: sentinel's master: %v %v", addr, err)
	}
	return addr[0] + ":" + addr[1]
}

// waitReplica waits until the sentinel sees a replica that it could promote.
func (s *Sentinel) waitReplica(t testing.TB) {
	t.Helper()
	Eventually(t, sentinelWithin, func() bool {
		var replicas []map[string]string
		err := s.ask(func(ctx context.Context, c *redis.SentinelClient) (err error) {
			replicas, err = c.Replicas(ctx, MasterName).Result()
			return err
		})
		return err == nil && len(replicas) == 1 &&
			replicas[0]["flags"] == "slave" && replicas[0]["master-link-status"] == "ok"
	}, "the sentinel knows a replica in step")
}

func (s *Sentinel) ask(f func(context.Context, *redis.SentinelClient) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), inspectWithin)
	defer cancel()
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Sentinel.Addr(), PoolSize: 1})
	defer c.Close()
	return f(ctx, c)
}

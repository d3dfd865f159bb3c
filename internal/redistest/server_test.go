package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/holdfast-go/holdfast/internal/redisbin"
)

var bg = context.Background()

func TestStartReturnsAServerThatAnswers(t *testing.T) {
	s := Start(t)
	c := s.Client(t)
	require.NoError(t, c.Set(bg, "b", 1, 0).Err())
	require.NoError(t, c.Set(bg, "a", 1, 0).Err())

	require.Equal(t, []string{"a", "b"}, s.Keys(t))
	require.Equal(t, fmt.Sprint(s.Pid()), s.Info(t, "server", "process_id"))
	require.Equal(t, fmt.Sprintf("%s:%d", host, s.Port()), s.Addr())
	require.Equal(t, "0", s.Info(t, "persistence", "aof_enabled"))
}

func TestServerIsGoneWithItsTest(t *testing.T) {
	Require(t)
	var s *Server
	t.Run("owner", func(t *testing.T) {
		s = Start(t)
		s.Pause()
	})
	require.NotNil(t, s)
	require.False(t, running(s.Pid()))
	require.NoDirExists(t, s.dir)

	s.Restart()
	s.Start()
	s.Pause()
	require.False(t, running(s.Pid()), "nothing brings it back")
}

func TestStartNGivesIndependentServers(t *testing.T) {
	servers := StartN(t, 5)
	clients := Clients(t, servers)
	require.NoError(t, clients[2].Set(bg, "k", 1, 0).Err())
	for i, s := range servers {
		require.Equal(t, Addrs(servers)[i], s.Addr())
		require.Equal(t, i == 2, len(s.Keys(t)) == 1)
	}
}

func TestArgumentsOverrideDefaults(t *testing.T) {
	s := Start(t, "--appendonly", "yes", "--appendfsync", "always")
	require.NoError(t, s.Client(t).Set(bg, "k", "v", 0).Err())
	before := s.Pid()

	s.Restart()

	require.NotEqual(t, before, s.Pid())
	require.Equal(t, []string{"k"}, s.Keys(t), "same directory")
	require.Equal(t, "1", s.Info(t, "persistence", "aof_enabled"), "same arguments")
}

func TestKillLosesWhatIsNotPersisted(t *testing.T) {
	s := Start(t)
	c := s.Client(t, func(o *redis.Options) { o.MaxRetries = -1 })
	require.NoError(t, c.Set(bg, "k", "v", 0).Err())

	s.Kill()
	require.False(t, running(s.Pid()))
	require.Error(t, c.Ping(bg).Err())
	s.Kill()

	s.Start()
	require.Empty(t, s.Keys(t))
	pid := s.Pid()
	s.Start()
	require.Equal(t, pid, s.Pid(), "a running server is left alone")
}

func TestStopSavesWhereSavingIsConfigured(t *testing.T) {
	s := Start(t, "--save", "3600 1")
	require.NoError(t, s.Client(t).Set(bg, "k", "v", 0).Err())
	s.Pause()
	s.Stop()
	require.False(t, running(s.Pid()))
	s.Start()
	require.Equal(t, []string{"k"}, s.Keys(t))
}

func TestPausedServerAnswersNothingAndCatchesUp(t *testing.T) {
	t.Parallel()
	s := Start(t)
	c := s.Client(t, once)
	require.NoError(t, c.Ping(bg).Err())

	s.Pause()
	require.True(t, stopped(s.Pid()))
	var timeout net.Error
	require.ErrorAs(t, c.Set(bg, "late", 1, 0).Err(), &timeout)
	require.True(t, timeout.Timeout())

	s.Resume()
	Eventually(t, within, func() bool { return len(s.Keys(t)) == 1 }, "the late command is executed")
}

func TestStartFailureShowsTheServersLog(t *testing.T) {
	Require(t)
	_, err := launch(t, t.TempDir(), dataLine([]string{"--no-such-option", "1"}))
	require.ErrorIs(t, err, errExited)
	require.Contains(t, err.Error(), "no-such-option")
}

func TestTakenPortIsRecognised(t *testing.T) {
	first := Start(t)
	second := &Server{t: t, dir: t.TempDir(), commandLine: dataLine(nil), port: first.Port()}
	require.ErrorIs(t, second.launch(), errPortTaken)
	require.True(t, running(first.Pid()))
}

func TestRestartWaitsForItsPort(t *testing.T) {
	s := Start(t)
	s.Kill()
	l, err := net.Listen("tcp", s.Addr())
	require.NoError(t, err)
	var refused bool
	var wg sync.WaitGroup
	wg.Go(func() {
		defer l.Close()
		refused = poll(within, func() bool {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log-2.txt"))
			return strings.Contains(string(log), "Address already in use")
		})
	})
	s.Start()
	wg.Wait()
	require.True(t, refused, "the first attempt fails")
	require.Empty(t, s.Keys(t))
}

func TestControlFromManyGoroutines(t *testing.T) {
	s := Start(t)
	c := s.Client(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			switch i % 4 {
			case 0:
				s.Restart()
			case 1:
				s.Pause()
				s.Resume()
			case 2:
				s.Resume()
				_ = s.Pid()
			case 3:
				_ = c.Ping(bg).Err()
			}
		})
	}
	wg.Wait()
	s.Resume()
	require.NoError(t, c.Ping(bg).Err())
}

func TestIgnoreGoroutinesCoversARunningServer(t *testing.T) {
	before := goleak.IgnoreCurrent()
	Start(t)
	require.ErrorContains(t, goleak.Find(before), "(*process).run")
	require.NoError(t, goleak.Find(append(IgnoreGoroutines(), before)...))
}

func TestIgnoreRedialsCoversAClientOfADeadServer(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s := Start(t)
	c := s.Client(t, func(o *redis.Options) { o.PoolSize = 1 }) // redials once a whole pool has failed
	s.Kill()
	require.Error(t, c.Ping(bg).Err())
	require.ErrorContains(t, goleak.Find(before), "tryDial")
	require.NoError(t, c.Close())
	require.NoError(t, goleak.Find(before, IgnoreRedials()))
	Eventually(t, within, func() bool { return goleak.Find(before) == nil }, "it ends, a little after the client")
}

func TestRequire(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(redisbin.Env, "") // it may name a path

	t.Setenv(RequireEnv, "")
	r := record(t, func(t testing.TB) { Start(t) })
	require.True(t, r.skipped)
	require.Contains(t, r.text, t.Name())

	t.Setenv(RequireEnv, "1")
	r = record(t, func(t testing.TB) { StartN(t, 3) })
	require.True(t, r.failed)
	require.True(t, strings.Contains(r.text, RequireEnv))
}

func TestEventuallyFailsAfterItsBound(t *testing.T) {
	r := record(t, func(t testing.TB) {
		Eventually(t, 5*time.Millisecond, func() bool { return false }, "%d sheep", 7)
	})
	require.True(t, r.failed)
	require.Contains(t, r.text, "7 sheep")
	Eventually(t, 0, func() bool { return true }, "once is enough")
}

package redistest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redisbin"
)

// Server is a redis-server process that belongs to one test.
//
// It is safe for concurrent use: what changes the process (Kill, Restart and the
// like) happens one after the other. It must not be copied; the zero value is
// of no use.
type Server struct {
	// Immutable.
	t           testing.TB
	dir         string
	commandLine func(*Server) []string
	port        int

	mu     sync.Mutex
	proc   *process // the last one started; it may have exited
	log    string   // its log file
	starts int
	paused bool
	closed bool
}

// Start starts a server and returns when it answers. It keeps nothing on disk
// unless args, which are added to the command line, say otherwise; its directory
// is gone with the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return StartN(t, 1, args...)[0]
}

// StartN starts n independent servers at once.
func StartN(t testing.TB, n int, args ...string) []*Server {
	t.Helper()
	return startN(t, n, dataLine(args))
}

func startN(t testing.TB, n int, commandLine func(*Server) []string) []*Server {
	t.Helper()
	Require(t)
	servers := make([]*Server, n)
	errs := make([]error, n)
	dirs := make([]string, n)
	for i := range dirs {
		// Before the cleanup below is registered, hence removed after it has run.
		dirs[i] = t.TempDir()
	}
	t.Cleanup(func() {
		for _, s := range servers {
			if s != nil {
				s.close()
			}
		}
	})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { servers[i], errs[i] = launch(t, dirs[i], commandLine) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return servers
}

// launch looks for a port until a server could bind it.
func launch(t testing.TB, dir string, commandLine func(*Server) []string) (*Server, error) {
	for range 20 {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s := &Server{t: t, dir: dir, commandLine: commandLine, port: port}
		if err = s.launch(); err == nil {
			return s, nil
		}
		if !errors.Is(err, errPortTaken) {
			return nil, err
		}
	}
	return nil, errNoPort
}

// launch starts the process on the server's port. The caller holds mu or is
// alone. A process that does not become ready is not left behind.
func (s *Server) launch() error {
	s.starts++
	s.log = filepath.Join(s.dir, fmt.Sprintf("log-%d.txt", s.starts))
	log, err := os.Create(s.log)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own descriptor
	proc, err := startProcess(s.dir, log, redisbin.Name(), s.commandLine(s)...)
	if err != nil {
		return err
	}
	s.proc, s.paused = proc, false
	if err := waitReady(proc, s.port, s.log); err != nil {
		proc.kill()
		text, _ := os.ReadFile(s.log)
		return fmt.Errorf("%w: port %d\n%s", err, s.port, text)
	}
	return nil
}

// dataLine puts the test's arguments last, so that they win.
func dataLine(args []string) func(*Server) []string {
	return func(s *Server) []string {
		defaults := []string{
			"--port", fmt.Sprint(s.port),
			"--bind", host,
			"--replica-announce-ip", host, // others would see 127.0.0.1
			"--cluster-announce-ip", host,
			"--dir", s.dir,
			"--save", "",
			"--appendonly", "no",
		}
		return append(defaults, args...)
	}
}

// Addr returns host:port. It stays the same over restarts.
func (s *Server) Addr() string { return hostPort(s.port) }

// Port returns the port. It stays the same over restarts.
func (s *Server) Port() int { return s.port }

// Pid returns the process id of the last start.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc.pid()
}

// Addrs returns the addresses of the servers, in their order.
func Addrs(servers []*Server) []string {
	addrs := make([]string, len(servers))
	for i, s := range servers {
		addrs[i] = s.Addr()
	}
	return addrs
}

// close ends the server for good: a straggling goroutine of the test must not
// bring it back.
func (s *Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.proc.kill()
}

// relaunch waits for its own port to be free: somebody who looks for a free
// port binds it for an instant.
func (s *Server) relaunch() error {
	deadline := time.Now().Add(readyWithin)
	for {
		err := s.launch()
		if !errors.Is(err, errPortTaken) || time.Now().After(deadline) {
			return err
		}
	}
}

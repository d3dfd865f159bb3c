package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redisbin"
)

// readyWithin is how long a server may take to start on a busy machine.
const readyWithin = 20 * time.Second

// A server is a redis-server process that keeps nothing on disk.
type server struct {
	*process
	addr  string
	admin *redis.Client // for the bench's own questions
}

// servers are the nodes of one run.
type servers []*server

// startServers starts n servers whose logs go to dir, with more arguments if there are any.
func startServers(dir string, n int, args ...string) (servers, error) {
	var list servers
	for range n {
		s, err := startServer(dir, args...)
		if err != nil {
			list.close()
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func startServer(dir string, args ...string) (*server, error) {
	for range 50 {
		// Below every system's ephemeral ports. Another may take it before the server
		// does: then the server ends, and the next port is tried.
		port := 21500 + rand.IntN(6000)
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		_ = l.Close()
		s, err := launch(dir, addr, port, args...)
		if err != nil || s != nil {
			return s, err
		}
	}
	return nil, errors.New("no free port found")
}

// launch returns nil if the port is taken after all.
func launch(dir, addr string, port int, args ...string) (*server, error) {
	log, err := os.Create(filepath.Join(dir, fmt.Sprintf("redis-%d.log", port)))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own descriptor
	cmd := exec.Command(redisbin.Name(), append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1",
		"--dir", dir, "--save", "", "--appendonly", "no"}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	s := &server{process: p, addr: addr, admin: redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})}
	for deadline := time.Now().Add(readyWithin); ; {
		info, err := s.info("server")
		switch {
		case err == nil && info["process_id"] == strconv.Itoa(p.cmd.Process.Pid):
			return s, nil
		case p.gone():
			_ = s.admin.Close()
			return nil, nil
		case time.Now().After(deadline):
			s.close()
			return nil, fmt.Errorf("the server on %s does not answer: %w", addr, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// info asks for a section of INFO.
func (s *server) info(section string) (map[string]string, error) {
	text, err := s.admin.Info(context.Background(), section).Result()
	if err != nil {
		return nil, err
	}
	return infoFields(text), nil
}

func infoFields(text string) map[string]string {
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// restart kills the process, and starts another one at the same address after a while. It has
// nothing.
func (s *server) restart(dir string, down time.Duration) error {
	s.kill()
	time.Sleep(down)
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	next, err := launch(dir, s.addr, number)
	if err != nil {
		return err
	}
	if next == nil {
		return fmt.Errorf("the port of the server on %s is taken", s.addr)
	}
	_ = s.admin.Close()
	s.process, s.admin = next.process, next.admin
	return nil
}

// pause stops the process, connections stay open.
func (s *server) pause() { s.signal(syscall.SIGSTOP) }

// resume lets it go on with what was sent to it meanwhile.
func (s *server) resume() { s.signal(syscall.SIGCONT) }

func (s *server) close() {
	_ = s.admin.Close()
	s.kill()
}

func (list servers) close() {
	for _, s := range list {
		s.close()
	}
}

// addrs are the addresses of the first n.
func (list servers) addrs(n int) []string {
	addrs := make([]string, n)
	for i := range addrs {
		addrs[i] = list[i].addr
	}
	return addrs
}

// flush empties them, scripts aside.
func (list servers) flush() error {
	for _, s := range list {
		if err := s.admin.FlushAll(context.Background()).Err(); err != nil {
			return err
		}
	}
	return nil
}

// cpu is what all of them have used so far.
func (list servers) cpu() (time.Duration, error) {
	var sum float64
	for _, s := range list {
		info, err := s.info("cpu")
		if err != nil {
			return 0, err
		}
		for _, field := range []string{"used_cpu_user", "used_cpu_sys"} {
			seconds, err := strconv.ParseFloat(info[field], 64)
			if err != nil {
				return 0, err
			}
			sum += seconds
		}
	}
	return time.Duration(sum * float64(time.Second)), nil
}

// ran is how often all of them have run a command so far, in scripts or not.
func (list servers) ran(command string) (sum float64, err error) {
	for _, s := range list {
		info, err := s.info("commandstats")
		if err != nil {
			return 0, err
		}
		stats, some := info["cmdstat_"+command]
		if !some {
			continue
		}
		calls, _, _ := strings.Cut(strings.TrimPrefix(stats, "calls="), ",")
		n, err := strconv.ParseFloat(calls, 64)
		if err != nil {
			return 0, fmt.Errorf("the command statistics of %s: %w", s.addr, err)
		}
		sum += n
	}
	return sum, nil
}

// memory is what the data and connections of all of them take, in bytes.
func (list servers) memory() (sum float64, err error) {
	for _, s := range list {
		info, err := s.info("memory")
		if err != nil {
			return 0, err
		}
		used, err := strconv.ParseFloat(info["used_memory"], 64)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/internal/redisbin"
)

// Disk is what a node finds when it starts again.
type Disk string

// The disks.
const (
	Nothing Disk = "nothing" // it has forgotten everything
	Stale   Disk = "stale"   // a snapshot that was taken some time before the crash
	Always  Disk = "always"  // all that it ever confirmed: AOF with appendfsync always
)

// A node is a redis-server of a cell. Its clients reach it through proxies; the driver
// asks it directly, over its unix socket.
type node struct {
	dir   string
	disk  Disk
	shim  string // the library that gives it a clock that the driver can set; empty: none
	clock string

	address address // of a shard of a Cluster

	fault  sync.Mutex // one fault of the process at a time
	proc   *process
	direct *redis.Client
	offset time.Duration // of its clock
}

func newNode(dir string, disk Disk, shim string, at address) (*node, error) {
	n := &node{dir: dir, disk: disk, shim: shim, address: at, clock: filepath.Join(dir, "clock")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := n.skew(0); err != nil {
		return nil, err
	}
	n.direct = redis.NewClient(&redis.Options{
		Network: "unix", Addr: n.socket(), MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
	})
	return n, n.start()
}

func (n *node) socket() string { return filepath.Join(n.dir, "s") }

// start starts the server, if it is not there, and waits until it answers.
func (n *node) start() error {
	if n.proc != nil && !n.proc.gone() {
		return nil
	}
	args := []string{
		// While it is stopped it accepts nobody, and all who dial it wait for it.
		"--tcp-backlog", "4096",
		"--port", "0", "--unixsocket", n.socket(), "--dir", n.dir, "--save", "",
		"--appendonly", "no", "--daemonize", "no", "--logfile", filepath.Join(n.dir, "log"),
	}
	if n.disk == Always {
		args = append(args, "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
	}
	if n.address.port > 0 {
		args = append(args, n.address.args()...)
	}
	cmd := exec.Command(redisbin.Name(), args...)
	if n.shim != "" {
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+n.shim, "SKEW_FILE="+n.clock)
	}
	var err error
	if n.proc, err = start(cmd); err != nil {
		return err
	}
	for range 2000 {
		if n.proc.gone() {
			break
		}
		if n.direct.Ping(context.Background()).Err() == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	log, _ := os.ReadFile(filepath.Join(n.dir, "log"))
	return fmt.Errorf("%s does not start:\n%s", redisbin.Name(), log)
}

// kill ends the server without warning, stopped or not.
func (n *node) kill() { n.proc.kill() }

func (n *node) stop()   { n.proc.pause() }
func (n *node) resume() { n.proc.signal(syscall.SIGCONT) }

// snapshot saves what the server has, to be found by a later start.
func (n *node) snapshot() error { return n.direct.Save(context.Background()).Err() }

// skew sets how far the node's clock is off.
func (n *node) skew(d time.Duration) error {
	n.offset = d
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(d.Microseconds()))
	f, err := os.OpenFile(n.clock, os.O_CREATE|os.O_WRONLY, 0o600) // in place: the server has it mapped
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(b[:], 0)
	return err
}

// close ends the server for good.
func (n *node) close() {
	n.kill()
	n.direct.Close()
}

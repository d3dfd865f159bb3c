package fair_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
)

// programEnv has the test binary be a program: another process that waits for the lock.
const programEnv = "HOLDFAST_FAIR_PROGRAM"

// A setup is what a program is started with.
type setup struct {
	Addrs   []string
	Cluster bool // the addresses are of one Cluster
	Name    string
	TTL     time.Duration
	Beat    time.Duration

	NodeTimeout time.Duration
}

// A program is another process. It is told a line "lock <who>", and tells "granted <who>
// <hold>" once it has the lock for that one, or "failed <who> <why>"; then "unlock <who>",
// and tells "unlocked <who>". It ends with its input.
type program struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	ended chan struct{} // closed once all of its output is read

	mu    sync.Mutex
	calls map[string]*call
	free  map[string]chan struct{} // closed when that one has unlocked
}

// program starts a process of its own. change changes what it is started with.
func (r *rig) program(t *testing.T, change ...func(*setup)) *program {
	t.Helper()
	s := setup{Addrs: redistest.Addrs(r.servers), Cluster: r.cluster != nil, Name: r.name, TTL: 30 * time.Second, Beat: time.Minute, NodeTimeout: patience}
	for _, f := range change {
		f(&s)
	}
	env, err := json.Marshal(s)
	require.NoError(t, err)
	p := &program{
		cmd:   exec.Command(os.Args[0]),
		ended: make(chan struct{}),
		calls: make(map[string]*call),
		free:  make(map[string]chan struct{}),
	}
	// The race detector lets every program end a second late, unless it is told not to.
	p.cmd.Env = append(os.Environ(), programEnv+"="+string(env), "GORACE=atexit_sleep_ms=0")
	p.cmd.Stderr = os.Stderr
	p.input, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	output, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	ready := make(chan struct{})
	go p.listen(output, ready)
	t.Cleanup(func() {
		_ = p.input.Close()
		<-p.ended
		_ = p.cmd.Wait() // killed or not, it has ended
	})
	select {
	case <-ready:
	case <-p.ended:
		require.Fail(t, "the program has ended")
	}
	return p
}

// listen takes what the program tells.
func (p *program) listen(output io.Reader, ready chan<- struct{}) {
	defer close(p.ended)
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		who, rest, _ := strings.Cut(rest, " ")
		p.mu.Lock()
		c, free := p.calls[who], p.free[who]
		p.mu.Unlock()
		switch word {
		case "ready":
			close(ready)
		case "granted":
			c.grant(rest)
			c.end(nil)
		case "failed":
			c.end(fmt.Errorf("%s: %s", who, rest))
		case "unlocked":
			close(free)
		}
	}
}

func (p *program) tell(word, who string) error {
	_, err := fmt.Fprintln(p.input, word, who)
	return err
}

func (p *program) lock(r *rig, who string) *call {
	c := r.begin(who)
	free := make(chan struct{})
	c.unlock = func() error {
		r.inside.Add(-1)
		if err := p.tell("unlock", who); err != nil {
			return err
		}
		select {
		case <-free:
			return nil
		case <-p.ended:
			return fmt.Errorf("the program has ended before it unlocked %s", who)
		}
	}
	p.mu.Lock()
	p.calls[who], p.free[who] = c, free
	p.mu.Unlock()
	if err := p.tell("lock", who); err != nil {
		c.end(err)
	}
	return c
}

// kill ends the program without warning (SIGKILL), and returns when it is gone.
func (p *program) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	<-p.ended
}

// runProgram is a program.
func runProgram(env string, input io.Reader, output io.Writer) int {
	if err := newProcess(env, output).run(input); err != nil {
		fmt.Fprintln(os.Stderr, "program:", err)
		return 1
	}
	return 0
}

// A process is the inside of a program.
type process struct {
	env    string
	output io.Writer
	mutex  *fair.Mutex

	mu      sync.Mutex // of output and unlocks
	unlocks map[string]chan struct{}
}

func newProcess(env string, output io.Writer) *process {
	return &process{env: env, output: output, unlocks: make(map[string]chan struct{})}
}

func (p *process) run(input io.Reader) error {
	var s setup
	if err := json.Unmarshal([]byte(p.env), &s); err != nil {
		return err
	}
	var nodes []redis.UniversalClient
	if s.Cluster {
		nodes = append(nodes, redis.NewClusterClient(&redis.ClusterOptions{Addrs: s.Addrs}))
	} else {
		for _, addr := range s.Addrs {
			nodes = append(nodes, redis.NewClient(&redis.Options{Addr: addr}))
		}
	}
	locks, err := lock.NewClient(nodes, lock.WithNodeTimeout(s.NodeTimeout))
	if err != nil {
		return err
	}
	p.mutex = fair.New(locks, s.Name, lock.WithTTL(s.TTL), lock.WithWaiterHeartbeat(s.Beat))
	ctx, cancel := context.WithCancel(context.Background())
	p.say("ready")
	var calls sync.WaitGroup
	lines := bufio.NewScanner(input)
	for lines.Scan() {
		word, who, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "lock":
			unlock := make(chan struct{})
			p.mu.Lock()
			p.unlocks[who] = unlock
			p.mu.Unlock()
			calls.Go(func() { p.lock(ctx, who, unlock) })
		case "unlock":
			p.mu.Lock()
			close(p.unlocks[who])
			p.mu.Unlock()
		}
	}
	cancel()
	calls.Wait()
	return locks.Close()
}

// lock holds the lock until it is told to unlock, or the program ends.
func (p *process) lock(ctx context.Context, who string, unlock <-chan struct{}) {
	lease, err := p.mutex.Lock(ctx)
	if err != nil {
		p.say("failed", who, err)
		return
	}
	p.say("granted", who, lease.ID())
	select {
	case <-unlock:
	case <-ctx.Done():
	}
	if err := lease.Unlock(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "program: unlock:", err)
	}
	p.say("unlocked", who)
}

func (p *process) say(words ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintln(p.output, words...) // nobody listens: the test has ended
}

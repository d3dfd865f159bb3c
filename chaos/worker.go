package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/fair"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
)

// workerEnv holds the Config of a process that is to be a worker.
const workerEnv = "CHAOS_WORKER"

// A Config is what a worker is told.
type Config struct {
	Seed       uint64
	Worker     int
	Life       int // how many workers of this number there were before
	Goroutines int
	Addrs      []string // of its own proxies, one for each node; or of a Cluster's servers
	Cluster    bool
	Names      []string
	TTL        time.Duration
	Pace       time.Duration // what waits and holds are drawn from
	Long       int           // percent of the leases that are long
	Hold       time.Duration // for which each lease is held; 0: it is drawn
	Outstay    bool          // each lease is kept until it is over
	Transfer   bool          // the names are two accounts, which are locked together
	Election   bool          // the names are elections
	Reads      int           // of a hundred calls for a read-write lock, those to read
	MinHold    time.Duration // for which a lock stays taken from its grant
	Rest       time.Duration // for which it stays taken after a holder that crashed or lost it
	Guard      time.Duration
	Timeout    time.Duration // of a node
	Heartbeat  time.Duration
	History    string // file
	Store      string // unix socket
}

// proc is what the worker is called in the history.
func (c *Config) proc() string { return fmt.Sprintf("w%d.%d", c.Worker, c.Life) }

// nodes are clients as a user would make them. Their end is the process's.
func (c *Config) nodes() []redis.UniversalClient {
	if c.Cluster {
		return []redis.UniversalClient{redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs})}
	}
	nodes := make([]redis.UniversalClient, len(c.Addrs))
	for i, addr := range c.Addrs {
		nodes[i] = redis.NewClient(&redis.Options{Addr: addr})
	}
	return nodes
}

// isFair tells what kind of lock a name is for.
func isFair(name string) bool { return strings.HasPrefix(name, "fair") }

// isShared tells whether many may have the lock to read.
func isShared(name string) bool { return strings.HasPrefix(name, "shared") }

// A worker is one process that takes locks.
type worker struct {
	cfg    *Config
	rec    *recorder
	client *lock.Client
	store  *storeClient
	ops    atomic.Int64
	work   context.Context // ends when the worker is to come to an end
}

// runWorker is what the process does in place of being a driver.
func runWorker(text string) error {
	cfg := new(Config)
	if err := json.Unmarshal([]byte(text), cfg); err != nil {
		return err
	}
	rec, err := newRecorder(cfg.History)
	if err != nil {
		return err
	}
	w := &worker{cfg: cfg, rec: rec, store: newStoreClient(cfg.Store)}
	go pulse(context.Background(), func(from, to int64) { rec.note(Event{At: to, Kind: evAsleep, From: from}) })
	var stop context.CancelFunc
	w.work, stop = context.WithCancel(context.Background())
	go func() {
		// The driver closes the pipe to end its workers, and so does its death.
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		}
		stop()
	}()
	w.client, err = w.connect(cfg.nodes())
	if err != nil {
		return nil // ended before a quorum could be met
	}
	var all sync.WaitGroup
	for g := range cfg.Goroutines {
		all.Go(func() {
			for n := 0; w.work.Err() == nil; n++ {
				switch p := draw(cfg, g, n); {
				case cfg.Transfer:
					w.transfer(w.work, p, false)
					sleep(w.work, p.pause)
				case isSemaphore(p.lock):
					w.sit(w.work, p, false)
					sleep(w.work, p.pause)
				case cfg.Election:
					w.campaign(w.work, p, false)
					sleep(w.work, p.pause)
				default:
					w.do(p)
				}
			}
			w.finish()
		})
	}
	all.Wait()
	return w.client.Close()
}

// connect tries until a quorum of nodes can be met.
func (w *worker) connect(nodes []redis.UniversalClient) (*lock.Client, error) {
	opts := []lock.ClientOption{
		lock.WithTTL(w.cfg.TTL), lock.WithNodeTimeout(w.cfg.Timeout),
		lock.WithRestartGuard(w.cfg.Guard), lock.WithWaiterHeartbeat(w.cfg.Heartbeat),
		lock.WithMinHold(w.cfg.MinHold), lock.WithRest(w.cfg.Rest),
	}
	if w.cfg.Worker%2 == 1 { // each of its holds is written down, behind the grant
		opts = append(opts, lock.WithLabel(w.cfg.proc()))
	}
	for {
		c, err := lock.NewClient(nodes, opts...)
		if err == nil || w.work.Err() != nil {
			return c, err
		}
		sleep(w.work, 50*time.Millisecond)
	}
}

func (w *worker) mutex(name string, opts ...lock.Option) lock.Locker {
	if isFair(name) {
		return fair.New(w.client, name, opts...)
	}
	if isShared(name) {
		return readwrite.New(w.client, name, opts...)
	}
	return reentrant.New(w.client, name, opts...)
}

// finish takes each lock once more, when all faults are over: now it must get it.
func (w *worker) finish() {
	if w.cfg.Transfer {
		w.transfer(context.Background(), plan{wait: lastWait}, true)
		return
	}
	for _, name := range w.cfg.Names {
		if isSemaphore(name) {
			w.sit(context.Background(), plan{lock: name, wait: lastWait, permits: permits}, true)
			continue
		}
		if w.cfg.Election {
			w.campaign(context.Background(), plan{lock: name, wait: lastWait}, true)
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), lastWait)
		if h := w.lock(ctx, w.mutex(name), acquisition{name: name, final: true, blocks: true}); h != nil {
			h.update(0)
			h.unlock()
		}
		cancel()
	}
}

// lastWait is how long a waiter may have to wait when every node is well again.
const lastWait = 30 * time.Second

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

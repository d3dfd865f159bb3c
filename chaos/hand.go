package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// A hand is a worker's process, as the driver has it.
type hand struct {
	cfg   Config
	proc  *process
	stdin io.Closer
	log   string
}

// hire starts a worker.
func (r *Run) hire(number, life int) (*hand, error) {
	h := &hand{cfg: Config{
		Seed:       r.Seed,
		Worker:     number,
		Life:       life,
		Goroutines: r.Cell.Crew,
		Cluster:    r.Cell.Shards > 0,
		Names:      r.Cell.Locks,
		TTL:        r.Cell.TTL,
		Pace:       r.Cell.Pace,
		Long:       r.Cell.Long,
		Hold:       r.Cell.Hold,
		Outstay:    r.Cell.Outstay,
		Transfer:   r.Cell.Transfer,
		Election:   r.Cell.Election,
		Reads:      r.Cell.Reads,
		MinHold:    r.Cell.MinHold,
		Rest:       r.Cell.Rested,
		Guard:      r.Cell.Guard,
		Timeout:    r.Cell.Timeout,
		Heartbeat:  r.Cell.heartbeat(),
		Store:      filepath.Join(r.dir, "store"),
	}}
	h.cfg.History = filepath.Join(r.dir, h.cfg.proc()+".history")
	h.log = filepath.Join(r.dir, h.cfg.proc()+".log")
	for i, n := range r.nodes {
		if h.cfg.Cluster {
			h.cfg.Addrs = append(h.cfg.Addrs, n.address.String())
		} else {
			h.cfg.Addrs = append(h.cfg.Addrs, r.proxies[i][number].addr)
		}
	}
	text, err := json.Marshal(h.cfg)
	if err != nil {
		return nil, err
	}
	program := r.Worker
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
	log, err := os.Create(h.log)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own descriptor
	cmd.Stdout, cmd.Stderr = log, log
	if h.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	h.proc, err = start(cmd)
	return h, err
}

// end has the worker come to an end.
func (h *hand) end() { h.stdin.Close() }

// said is what the worker has printed: nothing, unless it has panicked.
func (h *hand) said() string {
	text, err := os.ReadFile(h.log)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}

func (r *Run) hand(number int) *hand {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.crew[number]
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// hogEnv makes this program one of the processes that keep the machine busy.
const hogEnv = "HOLDFAST_HOG"

// stressed runs round after round. It goes on after a failure, to see how often each is.
func (s *suite) stressed(ctx context.Context, parts []*part) error {
	stop, err := hogs(ctx, 2*runtime.NumCPU())
	if err != nil {
		return err
	}
	defer stop()
	var failures []error
	begin, rounds := time.Now(), 0
	for ; time.Since(begin) < s.stress && ctx.Err() == nil; rounds++ {
		env := []string{"GOMAXPROCS=1"}
		if rounds%2 == 0 {
			env = []string{fmt.Sprint("GOMAXPROCS=", runtime.NumCPU())}
		}
		fmt.Printf("round %d, %s\n", rounds+1, env[0])
		if err := s.round(ctx, parts, env); err != nil {
			failures = append(failures, fmt.Errorf("round %d: %w", rounds+1, err))
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d of %d rounds failed:\n%w", len(failures), rounds, errors.Join(failures...))
	}
	fmt.Printf("%d rounds passed\n", rounds)
	return nil
}

// hogs starts n processes that end with stop, or with this one: their input ends then.
func hogs(ctx context.Context, n int) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var inputs []io.Closer
	var processes []*exec.Cmd
	stop = func() {
		for i, p := range processes {
			_ = inputs[i].Close()
			_ = p.Wait() // it only spins
		}
	}
	for range n {
		cmd := exec.CommandContext(ctx, self)
		cmd.Env = append(os.Environ(), hogEnv+"=1", "GOMAXPROCS=1")
		input, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			stop()
			return nil, err
		}
		inputs, processes = append(inputs, input), append(processes, cmd)
	}
	return stop, nil
}

// beHog spins for up to half a second and rests for as long, until its input ends.
func beHog() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		until := time.Now().Add(rand.N(500 * time.Millisecond))
		for time.Now().Before(until) {
			runtime.Gosched() // or nobody sees that the input has ended
		}
		time.Sleep(rand.N(500 * time.Millisecond))
	}
}

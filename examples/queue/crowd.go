package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/examples/internal/story"
)

// A crowd is the customers' processes. All speak into one pipe, so that what they say
// comes out in the order in which they said it.
type crowd struct {
	ctx       context.Context // ends them
	addresses string
	running   map[string]*exec.Cmd
	said      *os.File
	lines     *bufio.Scanner
	say       *os.File
}

func newCrowd(ctx context.Context, nodes []redis.UniversalClient) (*crowd, error) {
	addresses := make([]string, len(nodes))
	for i, n := range nodes {
		addresses[i] = n.(*redis.Client).Options().Addr
	}
	said, say, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// Whatever becomes of them, the show ends. Not every system can do that for pipes.
	_ = said.SetReadDeadline(time.Now().Add(time.Minute))
	return &crowd{
		ctx:       ctx,
		addresses: strings.Join(addresses, ","),
		running:   make(map[string]*exec.Cmd),
		said:      said,
		lines:     bufio.NewScanner(said),
		say:       say,
	}, nil
}

// start starts this very program once more, as a customer.
func (c *crowd) start(name string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(c.ctx, program, customerWord, name, c.addresses)
	cmd.Stdout, cmd.Stderr = c.say, os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // open until Wait, or until we end
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.running[name] = cmd
	return nil
}

// kill ends a customer's process as the system would, and returns when it is gone.
func (c *crowd) kill(name string) error {
	cmd := c.running[name]
	delete(c.running, name)
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	_ = cmd.Wait() // it says that it was killed
	return nil
}

// hear tells the next thing that one of them says.
func (c *crowd) hear(tell *story.Teller) error {
	if !c.lines.Scan() {
		return errors.Join(io.ErrUnexpectedEOF, c.lines.Err())
	}
	name, what, _ := strings.Cut(c.lines.Text(), " ")
	tell.Linef(name, "%s", what)
	return nil
}

// hearAll tells what they say until all have gone.
func (c *crowd) hearAll(tell *story.Teller) error {
	_ = c.say.Close() // they have the only other ends
	for {
		switch err := c.hear(tell); {
		case err == nil:
		case c.lines.Err() == nil:
			return nil
		default:
			return err
		}
	}
}

// wait waits for processes that have gone to end, and tells what went wrong with any.
func (c *crowd) wait() error {
	var errs []error
	for name, cmd := range c.running {
		if err := cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		delete(c.running, name)
	}
	return errors.Join(errs...)
}

// close ends whoever is left.
func (c *crowd) close() {
	for _, cmd := range c.running {
		_ = cmd.Process.Kill() // it may have gone
	}
	_ = c.wait()
	_ = c.say.Close() // twice is no harm
	_ = c.said.Close()
}

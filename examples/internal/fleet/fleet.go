// Package fleet has an example run in several processes: the example's program starts itself once
// more for each member, and tells what they say.
package fleet

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

// A Fleet is processes of the example's own program. All speak into one pipe, so that what they
// say comes out in the order in which they said it.
type Fleet struct {
	ctx       context.Context // ends them
	addresses string
	running   map[string]*exec.Cmd
	said      *os.File
	lines     *bufio.Scanner
	say       *os.File
}

// New makes a fleet without members, for these nodes. Its processes end with ctx.
func New(ctx context.Context, nodes []redis.UniversalClient) (*Fleet, error) {
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
	return &Fleet{
		ctx:       ctx,
		addresses: strings.Join(addresses, ","),
		running:   make(map[string]*exec.Cmd),
		said:      said,
		lines:     bufio.NewScanner(said),
		say:       say,
	}, nil
}

// Start starts this very program once more, as a member with that name.
func (f *Fleet) Start(name string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(f.ctx, program, memberWord, name, f.addresses)
	cmd.Stdout, cmd.Stderr = f.say, os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // open until Wait, or until we end
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	f.running[name] = cmd
	return nil
}

// Kill ends a member's process as the system would, and returns when it is gone.
func (f *Fleet) Kill(name string) error {
	cmd := f.running[name]
	delete(f.running, name)
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	_ = cmd.Wait() // it says that it was killed
	return nil
}

// Hear tells the next thing that one of them says, and returns who said what.
func (f *Fleet) Hear(tell *story.Teller) (name, what string, err error) {
	if !f.lines.Scan() {
		return "", "", errors.Join(io.ErrUnexpectedEOF, f.lines.Err())
	}
	name, what, _ = strings.Cut(f.lines.Text(), " ")
	tell.Linef(name, "%s", what)
	return name, what, nil
}

// HearAll tells what they say until all have gone.
func (f *Fleet) HearAll(tell *story.Teller) error {
	_ = f.say.Close() // they have the only other ends
	for {
		switch _, _, err := f.Hear(tell); {
		case err == nil:
		case f.lines.Err() == nil:
			return nil
		default:
			return err
		}
	}
}

// Wait waits for processes that have gone to end, and tells what went wrong with any.
func (f *Fleet) Wait() error {
	var errs []error
	for name, cmd := range f.running {
		if err := cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		delete(f.running, name)
	}
	return errors.Join(errs...)
}

// Close ends whoever is left.
func (f *Fleet) Close() {
	for _, cmd := range f.running {
		_ = cmd.Process.Kill() // it may have gone
	}
	_ = f.Wait()
	_ = f.say.Close() // twice is no harm
	_ = f.said.Close()
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const slotsEnv = "HOLDFAST_SLOTS"

// A runner runs a command under a lease, or under one after the other.
type runner struct {
	flags  *lockFlags
	words  []string
	path   string // of words[0]
	caught <-chan os.Signal
	events *events

	began    bool // the command did
	stopping bool // a signal asked it to end
}

// run runs the command until nothing of it is left. It tells why the command was ended, if it was, and the
// command's exit code. The caller gives the grant back.
func (r *runner) run(g *grant) (lost error, code int, err error) {
	began := time.Now()
	r.events.tell(event{Event: "locked", Name: g.name, ID: g.ID(), Token: g.Token(), Slots: g.slots, Deadline: instant(g.Deadline())})
	s := &supervisor{
		lease: g.lease, grace: r.flags.grace, margin: margin(r.flags.ttl), caught: r.caught, events: r.events,
	}
	if r.flags.maxHold > 0 {
		s.until = began.Add(r.flags.maxHold)
	}
	if lost := g.Err(); lost != nil {
		r.events.lost(lost)
		return lost, 0, nil // this process was paused just now: nothing begins without the lock
	}
	all, err := start(&exec.Cmd{
		Path: r.path, Args: r.words, Env: environment(g), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}, r.events.warn)
	if err != nil {
		return nil, 0, err
	}
	r.began = true
	s.group = all
	lost = s.run()
	r.stopping = r.stopping || s.stopping
	return lost, all.code(), nil
}

// environment tells the command what it runs under.
func environment(g *grant) []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, slotsEnv+"=") { // of a holdfast around this one
			env = append(env, v)
		}
	}
	env = append(env,
		"HOLDFAST_NAME="+g.name,
		fmt.Sprintf("HOLDFAST_TOKEN=%d", g.Token()),
		"HOLDFAST_ID="+g.ID(),
		"HOLDFAST_DEADLINE="+instant(g.Deadline()),
	)
	if g.slots != nil {
		env = append(env, slotsEnv+"="+strings.Trim(strings.ReplaceAll(fmt.Sprint(g.slots), " ", ","), "[]"))
	}
	return env
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// childEnv marks a process that the bench has started to work for it.
const childEnv = "HOLDFAST_BENCH_CHILD"

// An order is what such a process is told, as a line of JSON on its standard input.
// Then come lines with a verb each. It answers each line with one of its own: "ok", or
// in the end its findings.
type order struct {
	Contender string
	Addrs     []string
	TTL       time.Duration
	Job       job
	Scene     string
	Names     int
}

// serve is the work of a child. It ends with the input.
func serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return io.ErrUnexpectedEOF
	}
	var o order
	if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
		return err
	}
	sc, err := openScene(o.Scene, o.Names)
	if err != nil {
		return err
	}
	defer sc.close()
	if err := checkNames([]string{o.Contender}); err != nil {
		return err
	}
	t, err := newLocal(named(o.Contender)[0], site{addrs: o.Addrs, ttl: o.TTL}, o.Job, sc)
	if err != nil {
		return err
	}
	defer t.close()
	fmt.Fprintln(out, "ok")
	for lines.Scan() {
		switch verb := lines.Text(); verb {
		case "begin":
			err = t.begin()
		case "measure":
			err = t.measure()
		case "end":
			err = t.end()
		case "stop":
			f, err := t.stop()
			if err != nil {
				return err
			}
			return json.NewEncoder(out).Encode(f)
		default:
			err = fmt.Errorf("unknown verb %q", verb)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "ok")
	}
	return nil
}

// A child is such a process, seen from the bench.
type child struct {
	*process
	in  *os.File
	out *bufio.Reader
	end *os.File // of out
}

// startChild starts this program again.
func startChild(o order) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inR.Close(), inW.Close())
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, os.Stderr
	p, err := startProcess(cmd)
	_ = inR.Close()
	_ = outW.Close()
	if err != nil {
		return nil, errors.Join(err, inW.Close(), outR.Close())
	}
	c := &child{process: p, in: inW, out: bufio.NewReader(outR), end: outR}
	if err := json.NewEncoder(inW).Encode(o); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// tell sends a verb.
func (c *child) tell(verb string) error {
	_, err := fmt.Fprintln(c.in, verb)
	return err
}

// expect reads "ok".
func (c *child) expect() error {
	line, err := c.out.ReadString('\n')
	if err == nil && line != "ok\n" {
		err = fmt.Errorf("a child process answered %q", line)
	}
	return err
}

func (c *child) close() {
	_ = c.in.Close()
	c.kill()
	_ = c.end.Close()
}

// A remote is a team of several processes, which share the workers.
type remote struct{ children []*child }

func newRemote(c contender, s site, j job, sc *scene, processes int) (*remote, error) {
	r := &remote{}
	for i := range processes {
		part := j
		part.First = j.First + i*j.Workers/processes
		part.Workers = j.First + (i+1)*j.Workers/processes - part.First
		one, err := startChild(order{
			Contender: c.name, Addrs: s.addrs, TTL: s.ttl, Job: part, Scene: sc.path, Names: j.names(),
		})
		if err != nil {
			r.close()
			return nil, err
		}
		r.children = append(r.children, one)
	}
	if err := r.expect(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *remote) tell(verb string) error {
	var failed error
	for _, c := range r.children {
		failed = errors.Join(failed, c.tell(verb))
	}
	return failed
}

func (r *remote) expect() error {
	var failed error
	for _, c := range r.children {
		failed = errors.Join(failed, c.expect())
	}
	return failed
}

func (r *remote) begin() error { return errors.Join(r.tell("begin"), r.expect()) }

func (r *remote) measure() error { return errors.Join(r.tell("measure"), r.expect()) }

func (r *remote) end() error { return errors.Join(r.tell("end"), r.expect()) }

func (r *remote) stop() (*findings, error) {
	if err := r.tell("stop"); err != nil {
		return nil, err
	}
	var all findings
	for _, c := range r.children {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		var f findings
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, err
		}
		all.add(&f.record)
		all.Usage = all.Usage.and(f.Usage)
		all.Commands += f.Commands
	}
	return &all, nil
}

func (r *remote) close() {
	for _, c := range r.children {
		c.close()
	}
}

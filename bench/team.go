package main

import (
	"errors"
	"runtime"
	"time"
)

// A team does a job: workers of this process, or of several.
type team interface {
	begin() error
	measure() error           // begins to record
	end() error               // nobody enters any more, and whoever is in has left
	stop() (*findings, error) // ends the job
	close()
}

// findings are what a team was seen to do, and to use meanwhile.
type findings struct {
	record
	Usage    usage
	Commands int64
}

// A local is a team of this process.
type local struct {
	locker locker
	job    job
	scene  *scene
	sent   *traffic

	crew   *crew
	before usage
	sentBy int64 // before it was measured
	used   usage // while it was
	sentTo int64
}

func newLocal(c contender, s site, j job, sc *scene) (*local, error) {
	t := &local{job: j, scene: sc, sent: &traffic{uncounted: j.Uncounted}}
	s.seen = t.sent
	var err error
	t.locker, err = c.open(s)
	return t, err
}

func (t *local) begin() error {
	runtime.GC() // what others have left is not this one's to clear
	t.crew = startCrew(t.locker, t.job, t.scene)
	return nil
}

func (t *local) measure() error {
	t.before, t.sentBy = usageNow(), t.sent.commands.Load()
	t.crew.measure()
	return nil
}

func (t *local) end() error {
	t.used, t.sentTo = usageNow().since(t.before), t.sent.commands.Load()-t.sentBy
	t.crew.end()
	return nil
}

func (t *local) stop() (*findings, error) {
	f := &findings{Usage: t.used, Commands: t.sentTo}
	f.record = t.crew.stop()
	t.crew = nil
	return f, nil
}

func (t *local) close() {
	if t.crew != nil {
		t.crew.end()
		t.crew.stop()
	}
	t.locker.close()
}

// A trial says how a contender is measured.
type trial struct {
	nodes     servers
	addrs     []string // how the nodes are reached
	cluster   bool     // they are one Cluster
	job       job
	span      time.Duration
	processes int     // 0: in this one
	stopped   *server // from the start of the warm-up on; not one of nodes. nil: none
}

// awake lets the stopped node go on.
func (t *trial) awake() {
	if t.stopped != nil {
		t.stopped.resume()
		t.stopped = nil
	}
}

// on is a trial on the first n servers.
func (b *bench) on(n int, j job, span time.Duration) trial {
	return trial{nodes: b.servers[:n], addrs: b.servers.addrs(n), job: j, span: span}
}

// try has one contender do a job for a while.
func (b *bench) try(c contender, t trial) (f figures, failed error) {
	if err := t.nodes.flush(); err != nil {
		return nil, err
	}
	sc, err := newScene(b.dir, t.job.names())
	if err != nil {
		return nil, err
	}
	defer sc.close()
	var work team
	s := site{addrs: t.addrs, cluster: t.cluster, ttl: b.ttl}
	if t.processes > 0 {
		work, err = newRemote(c, s, t.job, sc, t.processes)
	} else {
		work, err = newLocal(c, s, t.job, sc)
	}
	if err != nil {
		return nil, err
	}
	defer work.close()
	if err := work.begin(); err != nil {
		return nil, err
	}
	if t.stopped != nil {
		t.stopped.pause()
		defer t.awake() // before work is closed
	}
	time.Sleep(max(t.span/5, 50*time.Millisecond))

	before, err := t.nodes.cpu()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := work.measure(); err != nil {
		return nil, err
	}
	time.Sleep(t.span)
	elapsed := time.Since(began)
	err = work.end()
	after, err2 := t.nodes.cpu()
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	t.awake()
	seen, err := work.stop()
	if err != nil {
		return nil, err
	}
	o := outcome{findings: *seen, elapsed: elapsed, servers: after - before, overlaps: sc.overlaps()}
	b.note(c, &o)
	return o.figures(), nil
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/redlock"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Examine the servers, and say what is wrong with them",
		Long: `Examine each server: whether it can be reached and how fast, its version, role and uptime, how far its clock is from this
machine's, whether it keeps locks when it restarts or runs out of memory, and whether this user may do all that locks need. For the
latter, a lock of each kind is taken and given back, under the prefix and a unique name, and the channels of its messages are tried;
the keys that remain expire within seconds. A Cluster is examined master by master.

A finding of level "wrong" makes locks fail, or endangers them. A finding of level "advice" may be intended.

With --json, one document: "verdict", "quorum" (whether locks can be taken), "spare" (how many more nodes may fail), "findings" and
"nodes": "server", "address", "reachable", "roundTripMs" ("min", "median", "max"), "version", "role", "uptimeSeconds",
"clockOffsetMs", "appendOnly", "appendFsync", "maxMemory", "evictionPolicy", "findings" ("level": wrong or advice, "text").
What is not known of a node is left out.

Exit codes: 0 if nothing is wrong, 69 if no lock can be taken, 1 if something else is wrong.`,
		Example: `  holdfast doctor
  holdfast doctor --redis redis://a:6379,redis://b:6379,redis://c:6379
  holdfast doctor --json | jq '.nodes[] | {address, clockOffsetMs}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			x, err := a.examine(cmd)
			if err != nil {
				return err
			}
			if a.json {
				if err := document(cmd.OutOrStdout(), x); err != nil {
					return err
				}
			} else {
				x.print(cmd.OutOrStdout())
			}
			switch {
			case !x.Quorum:
				return exit(exitNoQuorum, nil)
			case x.wrong() > 0:
				return exit(exitFailed, nil)
			}
			return nil
		},
	}
}

// An examination is what doctor found.
type examination struct {
	Verdict  string      `json:"verdict"`
	Quorum   bool        `json:"quorum"`
	Spare    int         `json:"spare"`
	Findings []finding   `json:"findings"` // about all nodes together
	Nodes    []*nodeExam `json:"nodes"`

	misused error // why the command line is wrong, whichever servers answer; nil: it is not
}

// A finding is something that a person should know.
type finding struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

const (
	wrong  = "wrong"
	advice = "advice"
)

// examine examines all servers at once.
func (a *app) examine(cmd *cobra.Command) (*examination, error) {
	servers, err := a.connect()
	if err != nil {
		return nil, err
	}
	defer disconnect(servers)
	x := &examination{Findings: []finding{}, Nodes: []*nodeExam{}}
	found := make([][]*nodeExam, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { found[i] = a.examineServer(cmd.Context(), s) })
	}
	all.Wait()
	var reachable []server
	var answered [][]*nodeExam // of those
	for i, nodes := range found {
		x.Nodes = append(x.Nodes, nodes...)
		if slices.ContainsFunc(nodes, func(e *nodeExam) bool { return e.Reachable }) {
			reachable, answered = append(reachable, servers[i]), append(answered, nodes)
		}
	}
	x.together(cmd.Context(), a, servers, reachable, answered)
	x.Verdict = x.verdict()
	return x, nil
}

// together looks at what no server tells alone. The others of all servers cannot be reached: a client would wait for
// them, and for long with this timeout.
func (x *examination) together(ctx context.Context, a *app, all, reachable []server, exams [][]*nodeExam) {
	n := len(all)
	quorum := n/2 + 1
	x.Spare = -quorum
	health, err := []lock.NodeHealth(nil), fmt.Errorf("%d of %d servers can be reached, and locks need %d", len(reachable), n, quorum)
	if len(reachable) >= quorum {
		health, err = a.health(ctx, reachable)
	}
	if err != nil {
		x.Findings = append(x.Findings, finding{wrong, err.Error()})
		if codeOf(err) == exitUsage {
			x.misused = err
		}
	}
	for i, h := range health {
		if (h.Votes || isCluster(reachable[i])) && slices.ContainsFunc(exams[i], func(e *nodeExam) bool { return e.grants }) {
			x.Spare++ // a Cluster of which one master grants has locks still
		}
		if !h.Votes && !slices.ContainsFunc(exams[i], (*nodeExam).isWrong) { // else its own findings tell why
			blamed(exams[i], h.Err).find(wrong, "it does not vote: %v", h.Err)
		}
	}
	x.Quorum = x.Spare >= 0
	switch {
	case x.Quorum && x.Spare == 0 && n > 2:
		x.Findings = append(x.Findings, finding{wrong, "no more servers may fail: repair those that do not vote"})
	case n%2 == 0:
		x.Findings = append(x.Findings, finding{advice, fmt.Sprintf("%d servers survive no more failures than %d would", n, n-1)})
	case n == 1 && isCluster(all[0]):
		x.Findings = append(x.Findings, finding{advice, "there is one Cluster, in which each name is on one master: while that is down, the name cannot be locked"})
	case n == 1:
		x.Findings = append(x.Findings, finding{advice, "there is one server: while it is down, no lock can be taken"})
	}
	forgets := false
	for _, e := range x.Nodes {
		forgets = forgets || e.Reachable && !e.durable()
	}
	if forgets && a.guard == 0 {
		x.Findings = append(x.Findings, finding{advice, "a server that restarts may forget who has a lock: give --restart-guard, " +
			"and lock.WithRestartGuard in programs, at least as long as any lock's key can live (TTL or minimum hold, plus rest); or set appendonly yes and appendfsync always"})
	}
}

// blamed is the exam of the master of a Cluster that err is about, or of a server that is none.
func blamed(exams []*nodeExam, err error) *nodeExam {
	i := slices.IndexFunc(exams, func(e *nodeExam) bool { return strings.Contains(err.Error(), "shard "+e.Address+":") })
	return exams[max(i, 0)]
}

// health asks these servers whether they would grant a lock.
func (a *app) health(ctx context.Context, servers []server) ([]lock.NodeHealth, error) {
	var health []lock.NodeHealth
	var failed error
	limit := timeFor(servers...)
	if !bounded(limit, func() {
		c, err := a.locks(servers, lock.WithNodeTimeout(patience))
		if err != nil {
			failed = err
			return
		}
		health = c.Health(ctx) // there is nothing to give back: the client ends with the process
	}) {
		return nil, fmt.Errorf("the servers take longer than %v to say whether they would grant a lock", limit)
	}
	return health, failed
}

func (x *examination) wrong() (n int) {
	count := func(list []finding) {
		for _, f := range list {
			if f.Level == wrong {
				n++
			}
		}
	}
	count(x.Findings)
	for _, e := range x.Nodes {
		count(e.Findings)
	}
	return n
}

// verdict is the result in words.
func (x *examination) verdict() string {
	spare := fmt.Sprintf("%d more may fail", x.Spare)
	if x.Spare == 0 {
		spare = "none may fail"
	}
	n := x.wrong()
	switch {
	case errors.Is(x.misused, redlock.ErrDuplicateNode):
		return "no lock can be taken: the same server is given as two nodes" // the finding says which
	case x.misused != nil:
		return "no lock can be taken: " + x.misused.Error()
	case !x.Quorum:
		return "no lock can be taken: too few servers are usable"
	case n == 1:
		return "locks can be taken, " + spare + ", and one thing is wrong"
	case n > 1:
		return fmt.Sprintf("locks can be taken, %s, and %d things are wrong", spare, n)
	default:
		return "locks can be taken, " + spare + ", and nothing is wrong"
	}
}

// print is the examination for people.
func (x *examination) print(out io.Writer) {
	t := newTable(out, "NODE", "ROUND TRIP", "VERSION", "ROLE", "UP FOR", "CLOCK", "PERSISTENCE", "EVICTION")
	for _, e := range x.Nodes {
		if !e.Reachable {
			t.row(e.Address, "unreachable", "", "", "", "", "", "")
			continue
		}
		t.row(e.Address, e.RoundTrip.words(), e.Version, e.Role, e.uptime(),
			e.clock(), e.persistence(), cmp.Or(e.EvictionPolicy, notKnown))
	}
	t.flush()
	for _, e := range x.Nodes {
		for _, f := range e.Findings {
			fmt.Fprintf(out, "%s: %s: %s\n", f.Level, e.Address, oneLine(f.Text))
		}
	}
	for _, f := range x.Findings {
		fmt.Fprintf(out, "%s: %s\n", f.Level, oneLine(f.Text))
	}
	fmt.Fprintln(out, oneLine(x.Verdict))
}

package redlock

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoQuorum says that too few nodes said yes, and that the reason is not another holder.
	// [NoQuorumError] has the details.
	ErrNoQuorum = errors.New("no quorum")
	// ErrDuplicateNode says that one server was given as two nodes.
	ErrDuplicateNode = errors.New("redlock: the same server is given as two nodes")
	// ErrUnfit says that a server cannot vote: it is too old, a replica, or one of several masters of a Cluster.
	ErrUnfit = errors.New("redlock: a node cannot vote")
	// ErrSilent says that a node did not answer within the node timeout. If it is known why, as nobody listens at its
	// address, the text of the error that wraps it says so.
	ErrSilent = errors.New("no answer within the node timeout")
	// ErrRestarted says that a node started recently and does not vote yet, or does not tell since when it is up and never does.
	ErrRestarted = errors.New("node has restarted and does not vote yet")
	// ErrClosed says that the group is closed.
	ErrClosed = errors.New("redlock: group is closed")
	// ErrDismissed says that nobody needs the decision any more: see [Ballot.Dismiss].
	ErrDismissed = errors.New("redlock: the ballot was dismissed")

	errAbandoned = errors.New("not sent: the attempt had ended")
	errReplaced  = errors.New("another server has taken its place: keys may be missing")
)

// A duplicateError says which nodes are one server. It is an [ErrDuplicateNode] without wrapping
// it, because go-redis unwraps the error for which a new connection is refused.
type duplicateError struct{ one, other string }

func (e *duplicateError) Error() string {
	return fmt.Sprintf("%v: %s and %s", ErrDuplicateNode, e.one, e.other)
}

func (e *duplicateError) Is(target error) bool { return target == ErrDuplicateNode }

// A NoQuorumError has each node's answer. It is an [ErrNoQuorum], and also all of its nodes'
// errors. None of them is a context's error: of one that a dial has ended with, only the text is left.
type NoQuorumError struct {
	Op     string // what was attempted: "acquire", "extend", "release"
	Need   int    // how many nodes must agree
	Agreed int    // how many did
	Nodes  []NodeAnswer
}

// A NodeAnswer is the answer of one node.
type NodeAnswer struct {
	Address string
	Agreed  bool
	Pending bool  // it had not answered when the others had decided, or when the caller's time was over
	Err     error // why not; nil with Agreed and Pending false: it said no
}

// Silent lists the addresses of the nodes that did not answer.
func (e *NoQuorumError) Silent() []string {
	var silent []string
	for _, n := range e.Nodes {
		if n.Pending || errors.Is(n.Err, ErrSilent) {
			silent = append(silent, n.Address)
		}
	}
	return silent
}

func (e *NoQuorumError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: no quorum: %d of %d nodes agreed, %d needed", e.Op, e.Agreed, len(e.Nodes), e.Need)
	for i, n := range e.Nodes {
		sep := "; "
		if i == 0 {
			sep = " ("
		}
		answer := "no"
		switch {
		case n.Agreed:
			answer = "yes"
		case n.Err != nil:
			answer = n.Err.Error()
		case n.Pending:
			answer = "no answer yet"
		}
		fmt.Fprintf(&s, "%s%s: %s", sep, n.Address, answer)
	}
	s.WriteByte(')')
	return s.String()
}

// Unwrap lists [ErrNoQuorum] and the nodes' errors.
func (e *NoQuorumError) Unwrap() []error {
	errs := []error{ErrNoQuorum}
	for _, n := range e.Nodes {
		if n.Err != nil {
			errs = append(errs, n.Err)
		}
	}
	return errs
}

// Err is a [*NoQuorumError] with every node's answer, or nil if the ballot is won.
func (b *Ballot) Err() error {
	if b.Won() {
		return nil
	}
	return b.report(b.Answer)
}

// SoFar returns each node's answer up to now. Unlike the other results of a ballot, it may be read
// before the decision, by a caller whose time is over.
func (b *Ballot) SoFar() ([]Answer, *NoQuorumError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	answers := make([]Answer, len(b.ops))
	for i := range b.ops {
		answers[i] = b.ops[i].answer
	}
	return answers, b.report(func(i int) Answer { return answers[i] })
}

// report returns the nodes' answers.
func (b *Ballot) report(answer func(int) Answer) *NoQuorumError {
	e := &NoQuorumError{Op: b.motion.Name, Need: b.group.quorum}
	for i := range b.ops {
		a := answer(i)
		if a.Vote == Yes {
			e.Agreed++
		}
		e.Nodes = append(e.Nodes, NodeAnswer{
			Address: b.group.Address(i),
			Agreed:  a.Vote == Yes,
			Pending: a.Vote == Pending,
			Err:     a.Err,
		})
	}
	return e
}

package redlock

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoQuorum says that too few nodes said yes, and that this is not because
	// another has the lock. [NoQuorumError] has the details.
	ErrNoQuorum = errors.New("no quorum")
	// ErrDuplicateNode says that one server was given as two nodes.
	ErrDuplicateNode = errors.New("redlock: the same server is given as two nodes")
	// ErrSilent says that a node did not answer within the node timeout.
	ErrSilent = errors.New("no answer within the node timeout")
	// ErrRestarted says that a node started not long ago and gives no votes yet.
	ErrRestarted = errors.New("node has restarted and does not vote yet")
	// ErrClosed says that the group is closed.
	ErrClosed = errors.New("redlock: group is closed")

	errAbandoned = errors.New("not sent: the attempt had ended")
)

// A NoQuorumError says what each node answered. It is an [ErrNoQuorum], and also
// whatever its nodes' errors are.
type NoQuorumError struct {
	Op     string // what was attempted: "acquire", "extend", "release"
	Need   int    // how many nodes must agree
	Agreed int    // how many did
	Nodes  []NodeAnswer
}

// A NodeAnswer is what one node said.
type NodeAnswer struct {
	Address string
	Agreed  bool
	Err     error // why not; nil with Agreed false: it said no, or the ballot was decided before it spoke
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
	e := &NoQuorumError{Op: b.motion.Name, Need: b.group.quorum, Agreed: b.yes}
	for i := range b.ops {
		a := b.ops[i].answer
		e.Nodes = append(e.Nodes, NodeAnswer{Address: b.group.Address(i), Agreed: a.Vote == Yes, Err: a.Err})
	}
	return e
}

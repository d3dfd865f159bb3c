package lock

import "time"

// A reserve is the fencing tokens that a tenure may give out without asking the nodes. The request
// for tokens also asks the nodes whether the hold is still there, and whether others wait (U3 to
// U5). It is guarded by the tenure's mu.
//
// Why the tokens are greater than all before, and all later ones greater still (I3): a quorum
// has raised its counters to top while the tenure had the key there, so each of its nodes was
// past what it had granted before. A later tenure's quorum shares a node with that one, which
// grants it more than top.
type reserve struct {
	last int64 // token that was given out
	top  int64 // the last token that a quorum has confirmed

	asked  time.Time // when the nodes were last asked
	heard  time.Time // when they last answered
	size   int64     // how many to ask for
	lot    int64     // how many were asked for last
	asking bool
	short  bool // meanwhile the last token was given out
	failed bool // the last question found no quorum
}

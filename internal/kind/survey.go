package kind

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Survey is a read-only script for all nodes.
type Survey struct {
	Name string
	// Call makes the call. guard is how long a restarted server must not grant; 0: there is no
	// guard.
	Call func(keys lua.Keys, guard time.Duration) lua.Call
	// Read returns an error if a reply is invalid.
	Read func(reply any) error
}

// Surveyed is the answer of one node.
type Surveyed struct {
	Address   string
	Reachable bool // it answered, if only with an error
	Reply     any  // nil if Err is not
	Err       error
}

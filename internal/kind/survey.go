package kind

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Survey is a script that reads only, for all nodes to run.
type Survey struct {
	Name string
	// Call makes the call. guard is for how long a restarted server must not grant; 0: there is no guard.
	Call func(keys lua.Keys, guard time.Duration) lua.Call
	// Read tells what is wrong with a reply.
	Read func(reply any) error
}

// Surveyed is what one node answered.
type Surveyed struct {
	Address   string
	Reachable bool // it answered, if only with an error
	Reply     any  // nil if Err is not
	Err       error
}

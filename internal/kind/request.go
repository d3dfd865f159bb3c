package kind

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Request is the data for a Kind's scripts.
type Request struct {
	Keys      lua.Keys
	Hold      string
	TTL       time.Duration
	Retention time.Duration // life of an idle fencing counter
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Life      time.Duration // of a waiter without a sign of life
	Channel   string        // prefix of the clients' channels
	Noted     bool          // a refusal includes the holder's note; for a release: the hold has a note
	Alone     bool          // no node is a Cluster: a server's listeners are connected to it
	Undo      bool          // for a release: there never was a lease, and nobody was told the token
	Token     int64         // for a release: the hold's token; 0: none
	Slots     lua.Slots     // for a Numbered: the hold's slots; for Wait: the slots it should get if they are free
	Again     bool          // for a release: a part of it may have run before, and told nobody
	Successor string        // for a Queue: the hold that asks right after a quiet release, if any
	Served    []string      // for a release, unless it is of a Shared: waiting holds that end with it
}

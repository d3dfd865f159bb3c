package kind

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

// A Request is what a Kind's scripts are told.
type Request struct {
	Keys      lua.Keys
	Hold      string
	TTL       time.Duration
	Retention time.Duration // life of an idle fencing counter
	Guard     time.Duration // how long a restarted server must not grant; 0: no guard
	Life      time.Duration // of a waiter without a sign of life
	Channel   string        // what the channel of a client begins with
	Noted     bool          // a refusal is to tell what is written about the holder; of a release: something is
	Alone     bool          // no node is a Cluster: who listens to a server is connected to it
	Undo      bool          // of a release: there never was a lease, and nobody was told the token
	Token     int64         // of a release: that the hold was told; 0: none
	Slots     lua.Slots     // of a Numbered: that the hold has, or of Wait, is to have if they are free
	Successor string        // of a Queue: the hold that asks right behind a quiet release, if one does
}

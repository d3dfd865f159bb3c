package kind

import "github.com/holdfast-go/holdfast/lua"

// A Shared is a Queue of which several holds can be in progress at once, or can become such holds.
// So each hold has a deadline of its own on the nodes. Its scripts extend and restore holds where
// the scripts of other kinds would not do.
type Shared interface {
	Queue
	// Mark is the end of the ids of its holds.
	Mark() string
	// Reads reports whether a new hold leaves room for others that also do.
	Reads() bool
	// Extend extends a hold, and turns it into one that reads if requested.
	Extend(r Request, e lua.Extend, reads bool) lua.Call
	// Restore is what [lua.Restore] is to other kinds.
	Restore(r Request, t lua.Restore, reads bool) lua.Call
	// Repair is what [lua.Repair] is to other kinds.
	Repair(r Request, p lua.Repair, reads bool) lua.Call
	// Keep is what [lua.Keep] is to other kinds.
	Keep(r Request, k lua.Keep) lua.Call
}

// A Joinable is a Shared whose holds within one process can be one at the nodes.
type Joinable interface {
	Shared
	// Look asks whether others may join a hold that reads. Its replies are read by [lua.ParseLooked].
	Look(r Request) lua.Call
	// Reserve is what [lua.Reserve] is to other kinds. Its replies are read by [lua.ParseRWReserved].
	Reserve(r Request, last int64) lua.Call
}

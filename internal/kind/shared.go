package kind

import "github.com/holdfast-go/holdfast/lua"

// A Shared is a Queue of whose holds several can be in progress at once, so that each has a deadline of
// its own on the nodes; or one that can become such a hold. Its scripts extend and restore holds where those of
// all other kinds would not do.
type Shared interface {
	Queue
	// Mark is what the ids of its holds end with.
	Mark() string
	// Reads tells whether a new hold leaves room for others that do, too.
	Reads() bool
	// Extend makes a hold live longer; from then on it reads, if it is to.
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

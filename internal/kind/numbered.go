package kind

import "github.com/holdfast-go/holdfast/lua"

// A Numbered is a Shared whose holds have numbered, exclusive slots: a hold is granted when a
// quorum of nodes gives it the same ones. Its replies to Acquire and Wait contain the slots.
type Numbered interface {
	Shared
	// Fence raises the fencing counter to a token that no other hold has. Its replies are read by
	// [lua.ParsePermitFenced].
	Fence(r Request, token, round int64) lua.Call
	// Reserve makes the fencing counter skip the tokens after one up to another, which belong to
	// the hold alone. Its replies are read by [lua.ParsePermitReserved].
	Reserve(r Request, after, last int64) lua.Call
	// Note is what [lua.Note] is to other kinds.
	Note(r Request, n lua.Note) lua.Call
}

package lock

// An acquisition is a call on its way to its lock.
type acquisition struct {
	call
	turns   turns   // how a blocked Lock waits for its turn; nil for TryLock
	last    *denial // of a TryLock or a re-entry: why the attempt before failed; nil: it is the first
	awaited *denial // the last reason that the call has waited for; nil: it has not waited, or knew of none
	mixed   int     // how many of its attempts were refused permits by nodes that named different holders

	contender contender // is turns, of a lock that is not a kind.Queue
}

// turns is how one blocked Lock gets its turn: by being the first to find the lock free
// (contender), or by its place in a queue on the nodes (queuer).
type turns interface {
	// try makes an attempt if it is time for one. The caller has the slot's turn.
	try() (*Lease, *denial, error)
	// wait sleeps until there may be a reason to try again.
	wait(d *denial) error
	// accepted reports whether the nodes have let the call wait.
	accepted() bool
	// passed returns the lease that another goroutine of this process has passed on; nil: none.
	passed() *Lease
	// leave gives up, or continues with a re-entry of what another call of the same owner got. It
	// returns a lease that was passed on meanwhile.
	leave() *Lease
	// seen returns who has the lock, as far as this process knows.
	seen() *denial
}

// quit leaves the queue. A lease that was passed on at the same moment is given back.
func (a *acquisition) quit() {
	if a.turns == nil {
		return
	}
	if l := a.turns.leave(); l != nil {
		_ = l.Unlock(a.ctx) // the next one has it, or learns of its loss
	}
}

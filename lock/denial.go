package lock

import "time"

// A denial says why an attempt did not get the lock. It is immutable once others may have it.
type denial struct {
	holder string        // the hold that has the lock, or a part of its nodes, or whose turn it is
	ttl    time.Duration // what the holder has left; negative: no TTL
	free   time.Duration // until a quorum of nodes may be free; 0: not known
	about  description   // of the holder
	sure   bool          // a quorum agrees on the holder: it is worth waiting for the release
	nodes  int           // that agree on it
	mixed  []string      // of permits: the holds that nodes named, if none was named by a quorum, though all refused
	err    error         // too few nodes answered; nil if they did
	split  error         // nobody had it: rivals split the votes
	cut    error         // what was known of an attempt that the end of the wait cut off
	final  bool          // trying again is no use
}

var (
	// nothing is known about why there is no lock.
	nothing = new(denial)
	// taken says that this process has it.
	taken = &denial{sure: true}
	// reenters says that another call of the owner was passed the lock while this one asked for it.
	reenters = new(denial)
)

// soFar is d, of an attempt that was cut off, as a reason: the holder that a quorum had named by then, or that too few
// nodes had answered.
func (d *denial) soFar() denial {
	known := denial{holder: d.holder, ttl: d.ttl, about: d.about, cut: d.cut}
	if !d.sure {
		known.err = d.cut
	}
	return known
}

// tells reports whether d gives a certain reason why the lock could not be acquired.
func (d *denial) tells() bool {
	return d.cut == nil && (d.holder != "" || d.err != nil || d.split != nil)
}

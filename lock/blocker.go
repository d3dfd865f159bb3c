package lock

import "time"

// A blocker is a hold that attempts find in their way.
type blocker struct {
	hold  string
	since time.Time // when it was found first
}

// maxBlock is for how long attempts that find the same hold in their way do not wait for nodes that are far.
const maxBlock = 100 * time.Millisecond

// finds records that an attempt has found a hold in its way, "" for none, and reports whether it has been there for a while.
func (b *blocker) finds(hold string, now time.Time) bool {
	if hold == "" || hold != b.hold {
		b.hold, b.since = hold, now
		return false
	}
	return now.Sub(b.since) >= maxBlock
}

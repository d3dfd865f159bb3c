package kind

import (
	"strings"

	"github.com/holdfast-go/holdfast/lua"
)

// A Family is a set of kinds that can be used together for one name: they exclude each other, and
// wait for each other. Kinds of different families exclude each other too, but do not know each
// other's waiters, so they are refused.
type Family uint8

// The families. The ends of their hold ids distinguish them.
const (
	Mutex     Family = iota // a digit: reentrant and fair
	ReadWrite               // lua.Reads, lua.Writes
	Semaphore               // lua.PermitMark
)

// String is the name of a family in errors.
func (f Family) String() string {
	switch f {
	case ReadWrite:
		return "read-write lock"
	case Semaphore:
		return "semaphore"
	default:
		return "mutex"
	}
}

// FamilyOf returns the family of the lock to which the hold called id belongs; false: another
// program has written the id.
func FamilyOf(id string) (Family, bool) {
	id = strings.TrimSuffix(id, lua.Lingers)
	n := len(id) - 1
	if _, _, permits := lua.ParsePermitMark(id); permits {
		return Semaphore, true
	}
	switch {
	case n > 0 && digit(id[n]):
		return Mutex, true
	case n > 1 && digit(id[n-1]) && (id[n:] == lua.Reads || id[n:] == lua.Writes):
		return ReadWrite, true
	}
	return 0, false
}

// WaitsToRead reports whether the hold called id, which waits for a lock, wants to read.
func WaitsToRead(id string) bool {
	family, ours := FamilyOf(id)
	return ours && family == ReadWrite && strings.HasSuffix(id, lua.Reads)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

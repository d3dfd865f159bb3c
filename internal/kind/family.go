package kind

import (
	"strings"

	"github.com/holdfast-go/holdfast/lua"
)

// A Family is the kinds that can be used for one name together: they exclude each other, and
// wait for each other. Those of different families exclude each other too, but none knows who waits for
// another, so they are refused.
type Family uint8

// The families. What the ids of their holds end with tells them apart.
const (
	Mutex     Family = iota // a digit: reentrant and fair
	ReadWrite               // lua.Reads, lua.Writes
	Semaphore               // lua.PermitMark
)

// String is how a family is called in errors.
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

// FamilyOf tells by a lock of which family the hold called id is; false: by what another program has
// written there.
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

// WaitsToRead tells whether the hold called id, which waits for a lock, is to read.
func WaitsToRead(id string) bool {
	family, ours := FamilyOf(id)
	return ours && family == ReadWrite && strings.HasSuffix(id, lua.Reads)
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

package election

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxCandidate is the greatest length of a candidate's name, in bytes. It is that of a note, because the
// name is the note of the lock.
const maxCandidate = 256

// checkCandidate refuses what [lock.WithNote] would refuse. The lock's own error would be about a note,
// which the caller has not given. An empty name is fine for a program that only watches.
func checkCandidate(name string) error {
	switch {
	case len(name) > maxCandidate:
		return fmt.Errorf("the candidate's name is %d bytes long, the limit is %d", len(name), maxCandidate)
	case !utf8.ValidString(name):
		return fmt.Errorf("the candidate's name %q is not valid UTF-8", name)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the candidate's name %q has a character that cannot be printed: %q", name, r)
		}
	}
	return nil
}

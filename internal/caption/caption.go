// Package caption is for what people read about a hold: labels, notes, and the names of candidates, which are notes.
package caption

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// The greatest lengths, in bytes.
const (
	MaxLabel = 128
	MaxNote  = 256
)

// Check refuses text that would not be a single printable line in an error or a log, or is longer than most bytes.
// The error calls the text what.
func Check(what, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("the %s is %d bytes long, the limit is %d", what, len(text), most)
	case !utf8.ValidString(text):
		return fmt.Errorf("the %s %q is not valid UTF-8", what, text)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("the %s %q has a character that cannot be printed: %q", what, text, r)
		}
	}
	return nil
}

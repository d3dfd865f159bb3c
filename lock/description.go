package lock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/lua"
)

const (
	maxLabel = 128 // bytes
	maxNote  = 256
)

// A description describes a hold for people: the label of its process, its lock's note, and since
// when it lasts.
type description struct {
	label string
	note  string
	since time.Time // on this process's clock
}

// describe turns a node's note of a hold into a description.
func describe(n lua.Noted) (d description) {
	if n != (lua.Noted{}) {
		d = description{n.Label, n.Text, time.Now().Add(-n.Age)}
	}
	return d
}

// heldFor is the age of the hold; 0: it is not known.
func (d description) heldFor() time.Duration {
	if d.since.IsZero() {
		return 0
	}
	return time.Since(d.since)
}

// defaultLabel identifies this process.
func defaultLabel() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	label := fmt.Sprintf("%s/%d %s", host, os.Getpid(), filepath.Base(os.Args[0]))
	label = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(label, ""))
	for len(label) > maxLabel {
		_, last := utf8.DecodeLastRuneInString(label)
		label = label[:len(label)-last]
	}
	return label
}

// checkText refuses text that would not be a single printable line in an error or a log.
func checkText(what, text string, most int) error {
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

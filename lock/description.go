package lock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/internal/caption"
	"github.com/holdfast-go/holdfast/lua"
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
	for len(label) > caption.MaxLabel {
		_, last := utf8.DecodeLastRuneInString(label)
		label = label[:len(label)-last]
	}
	return label
}

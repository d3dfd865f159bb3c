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
	"github.com/holdfast-go/holdfast/redlock"
)

const (
	maxLabel = 128 // bytes
	maxNote  = 256
	// noteAge is after how long it is written again, for nodes that have come back without it.
	noteAge = 10 * time.Minute
)

// A description is what people are told about a hold: the label of its process, its lock's note, and since when.
type description struct {
	label string
	note  string
	since time.Time // on this process's clock
}

// describe turns what a node has about a hold into a description.
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

// description is what is known here of the tenure.
func (t *tenure) description() description {
	t.mu.Lock()
	defer t.mu.Unlock()
	return description{t.engine.client.label, t.engine.set.note, t.since}
}

// write writes down who has the lock, on every node, and does not wait. What somebody has set
// is written right behind the grant, and so it is for a fixed lease. Otherwise there is only the
// default label, which comes with the first renewal that is due by time: holds are shorter as a
// rule, and cost nothing for it.
//
// What is written lives as long as the lock's key on that node, which extends it. The release
// takes it away. It is about one hold id, so it is never taken for what is about another hold.
func (t *tenure) write() {
	c, set := t.engine.client, &t.engine.set
	if set.note == "" && c.label == "" {
		return
	}
	now := time.Now()
	asked := set.note != "" || c.labelled || !set.renew
	t.mu.Lock()
	due := !t.ended && now.Sub(t.written) >= noteAge && (asked || now.Sub(t.since) >= t.ttl/8)
	life := max(set.extended(max(t.ttl, t.longest)), set.granted())
	if due {
		t.written = now
	}
	since := t.since
	t.mu.Unlock()
	if !due {
		return
	}
	n := lua.Note{
		Keys:  t.keys(),
		Hold:  t.id,
		Label: c.label,
		Text:  set.note,
		Age:   max(now.Sub(since), 0),
		Life:  life,
	}
	call := n.Call()
	if k := t.engine.numbered; k != nil {
		call = k.Note(t.request(), n)
	}
	c.group.Vote(redlock.Motion{Name: "note", Call: call, Yes: lua.ParseNoted})
}

// defaultLabel says which process this is.
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

// checkText refuses what would be no line of text in an error or a log.
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

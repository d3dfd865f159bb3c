package lua

import (
	"strings"
	"time"
)

// Note calls note.lua: it writes down, for people, who has a lock.
type Note struct {
	Keys  Keys
	Hold  string
	Label string // of the holder's process, without line ends
	Text  string
	Age   time.Duration // of the hold
	Life  time.Duration // of what is written
}

// Call makes the call.
func (n Note) Call() Call {
	return Call{script: noteScript, args: append(newCall(noteScript, 2, 4), n.Keys.Lock, n.Keys.Note(),
		n.Hold, n.Label+"\n"+n.Text, Millis(n.Age), Millis(n.Life))}
}

// ParseNoted reads a reply of note.lua: whether it was written.
func ParseNoted(reply any) (bool, error) { return parseBool(noteScript, reply) }

// Noted is what is written about the hold that has a lock. The zero value is nothing.
type Noted struct {
	Label string
	Text  string
	Age   time.Duration // of the hold, by the node's clock
}

// parseNoted reads what noted.lua has added to a reply: nothing, or a text and an age.
func parseNoted(r []any) (n Noted, ok bool) {
	if len(r) == 0 {
		return n, true
	}
	if len(r) != 2 {
		return n, false
	}
	text, ok1 := r[0].(string)
	age, ok2 := r[1].(int64)
	if !ok1 || !ok2 {
		return n, false
	}
	n.Label, n.Text, _ = strings.Cut(text, "\n")
	n.Age = time.Duration(age) * time.Millisecond
	return n, true
}

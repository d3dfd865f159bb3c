package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// An event is something that happens to a command under a lock: one line on stderr, as stdout is the command's.
type event struct {
	Event    string `json:"event"` // locked, lost, kill, released
	Name     string `json:"name"`
	ID       string `json:"id,omitempty"`
	Token    int64  `json:"token,omitempty"`
	Slots    []int  `json:"slots,omitempty"`
	Deadline string `json:"deadline,omitempty"`
	Reason   string `json:"reason,omitempty"` // of lost: gone, forced, maxHold, notRenewed
	Error    string `json:"error,omitempty"`
}

// events tells what happens, to whom wants to know: as JSON, or in words with --verbose. What a user must know is
// told in any case.
type events struct {
	name    string // of the lock
	json    bool
	verbose bool
	out     io.Writer // never blocks
}

func (a *app) events(name string) *events {
	return &events{name: name, json: a.json, verbose: a.verbose, out: a.stderr}
}

func (e *events) tell(ev event) {
	switch {
	case e.json:
		line, _ := json.Marshal(ev) // it has nothing that cannot be marshalled
		fmt.Fprintf(e.out, "%s\n", line)
	case e.verbose:
		fmt.Fprintf(e.out, "holdfast: lock %q: %s\n", e.name, oneLine(ev.String()))
	}
}

// lost tells why the lock was lost.
func (e *events) lost(why error) {
	e.tell(event{Event: "lost", Name: e.name, Error: lossText(why), Reason: reasonOf(why)})
}

// warn tells what a user must know.
func (e *events) warn(text string) {
	if e.json {
		line, _ := json.Marshal(map[string]string{"event": "warning", "name": e.name, "error": text})
		fmt.Fprintf(e.out, "%s\n", line)
		return
	}
	fmt.Fprintf(e.out, "holdfast: lock %q: %s\n", e.name, oneLine(text))
}

// String is the event in words.
func (ev event) String() string {
	words := []string{ev.Event}
	for _, w := range []struct{ name, value string }{
		{"id", ev.ID}, {"token", number(ev.Token)}, {"until", ev.Deadline},
	} {
		if w.value != "" {
			words = append(words, w.name+" "+w.value)
		}
	}
	if ev.Error != "" {
		words = append(words, ev.Error)
	}
	return strings.Join(words, ", ")
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// instant is a time as it stands in HOLDFAST_DEADLINE and in JSON.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

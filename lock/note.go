package lock

import (
	"time"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

// noteAge is the time after which the note is written again, for nodes that have lost it. That of one that
// reads is written again after its TTL: there is one place for the notes of all who read, and whoever wrote there since may
// have ended.
const noteAge = 10 * time.Minute

// description returns this process's description of the tenure.
func (t *tenure) description() description {
	t.mu.Lock()
	defer t.mu.Unlock()
	return description{t.engine.client.label, t.engine.set.note, t.since}
}

// left is how long the nodes keep the hold for sure, unless it is renewed.
func (t *tenure) left() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, time.Until(t.validity))
}

// write writes the label and note of the holder on every node, and does not wait. A label or note
// that somebody has set is written right after the grant, and so is that of a fixed lease.
// Otherwise there is only the default label, which is written with the first renewal that is due by
// time: most holds are shorter, and cost nothing for it. Nodes that were given the hold again have the
// description again at once, too, or with the next renewal. Nodes that did not confirm it are told again
// with the next renewal: no sooner, because they may be down.
//
// The text lives as long as the lock's key on that node, which extends it. The release deletes it.
// It names its hold id, so it is never taken for the text of another hold.
func (t *tenure) write() {
	c, set := t.engine.client, &t.engine.set
	if set.note == "" && c.label == "" {
		return
	}
	now := time.Now()
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return
	}
	var lacking []bool
	n := t.noting
	if n != nil {
		lacking, n.lacking = n.lacking, nil
	}
	age := noteAge
	if t.reads {
		age = min(age, t.ttl)
	}
	due := (n == nil || now.Sub(n.written) >= age) && (t.describes() || now.Sub(t.since) >= t.ttl/8)
	if due {
		t.noting = &noting{written: now}
	}
	life := max(set.extended(max(t.ttl, t.longest)), set.granted())
	since := t.since
	t.mu.Unlock()
	if !due && lacking == nil {
		return
	}
	note := lua.Note{
		Keys:  t.keys(),
		Hold:  t.id,
		Label: c.label,
		Text:  set.note,
		Age:   max(now.Sub(since), 0),
		Life:  life,
	}
	call := note.Call()
	if k := t.engine.numbered; k != nil {
		call = k.Note(t.request(), note)
	}
	m := redlock.Motion{Name: "note", Call: call, Yes: lua.ParseNoted, Missed: t.unnoted}
	if !due {
		m.Skip = func(node int) bool { return !lacking[node] }
	}
	c.group.Vote(m)
}

// describes reports whether somebody wants the description at once, and not with the next renewal.
func (t *tenure) describes() bool {
	c, set := t.engine.client, &t.engine.set
	return set.note != "" || c.labelled || !set.renew
}

// gave records that a node that lacked the hold was given it: without its description.
func (t *tenure) gave(node int) {
	c := t.engine.client
	c.given[node].Add(1)
	t.mu.Lock()
	n := t.noting
	if n != nil {
		n.lacks(node, c.group.Size())
	}
	t.mu.Unlock()
	if n != nil && t.describes() {
		t.write()
	}
}

// unnoted records that a node may lack the description, because the command failed or was not answered.
func (t *tenure) unnoted(node int, _ redlock.Answer, _ bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.noting.lacks(node, t.engine.client.group.Size())
}

// lacks records that one of so many nodes lacks the description. Called with the tenure's mu held.
func (n *noting) lacks(node, nodes int) {
	if n.lacking == nil {
		n.lacking = make([]bool, nodes)
	}
	n.lacking[node] = true
}

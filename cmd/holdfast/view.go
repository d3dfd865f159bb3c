package main

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/readwrite"
	"github.com/holdfast-go/holdfast/reentrant"
	"github.com/holdfast-go/holdfast/semaphore"
)

// A lockView is a lock as it is shown. The names of its fields in JSON are stable.
type lockView struct {
	Name    string       `json:"name"`
	Status  string       `json:"status"`         // held, free or unknown
	Kind    string       `json:"kind,omitempty"` // mutex, read-write or semaphore; of a free lock it is not known
	Permits int          `json:"permits,omitempty"`
	Holders []holderView `json:"holders"`
	Waiters []waiterView `json:"waiters"` // in order; only of locks with a queue
	Token   int64        `json:"token,omitempty"`
	Nodes   []nodeView   `json:"nodes"`
	Error   string       `json:"error,omitempty"` // why it could not be told
}

type holderView struct {
	ID        string `json:"id"`
	Label     string `json:"label,omitempty"`
	Note      string `json:"note,omitempty"`
	HeldForMs int64  `json:"heldForMs,omitempty"`
	TTLMs     int64  `json:"ttlMs,omitempty"` // -1: none
	Access    string `json:"access,omitempty"`
	Slots     []int  `json:"slots,omitempty"`
	Lingers   bool   `json:"lingers,omitempty"` // it has gone, and the lock stays taken
}

type waiterView struct {
	ID       string `json:"id"`
	WaitedMs int64  `json:"waitedMs"`
	Access   string `json:"access,omitempty"`
	Permits  int    `json:"permits,omitempty"`
}

type nodeView struct {
	Address   string   `json:"address"`
	Reachable bool     `json:"reachable"`
	Holders   []string `json:"holders,omitempty"` // ids
	TTLMs     int64    `json:"ttlMs,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// idSuffix is what a hold's id tells about its kind; see docs/keys.md.
var idSuffix = regexp.MustCompile(`:\d+(?:(r)|(w)|p(\d+)/(\d+))?( lingers)?$`)

// An id is what a hold's id tells.
type id struct {
	access  string // of read-write locks: read or write
	take    int    // of semaphores: permits
	of      int
	lingers bool
}

func parseID(text string) (i id) {
	m := idSuffix.FindStringSubmatch(text)
	switch {
	case m == nil:
		return id{}
	case m[1] != "":
		i.access = "read"
	case m[2] != "":
		i.access = "write"
	case m[3] != "":
		i.take, _ = strconv.Atoi(m[3]) // digits
		i.of, _ = strconv.Atoi(m[4])
	}
	i.lingers = m[5] != ""
	return i
}

func (i id) kind() string {
	switch {
	case i.of > 0:
		return "semaphore"
	case i.access != "":
		return "read-write"
	default:
		return "mutex"
	}
}

// look inspects one lock, of whatever kind.
func look(ctx context.Context, c *lock.Client, name string) (lockView, error) {
	state, err := reentrant.New(c, name).Inspect(ctx)
	v := newView(name, state)
	if err == nil && v.Kind == "semaphore" {
		var s semaphore.State
		if s, err = semaphore.New(c, name, v.Permits).Inspect(ctx); err == nil {
			v.permits(s)
		}
	}
	if err != nil {
		v.Error = err.Error()
	}
	return v, err
}

// newView is a lock as every kind is inspected.
func newView(name string, s lock.State) lockView {
	v := lockView{
		Name: name, Status: s.Status.String(), Token: s.Token,
		Holders: []holderView{}, Waiters: []waiterView{}, Nodes: []nodeView{},
	}
	var example string // an id, to tell the kind by
	for _, n := range s.Nodes {
		nv := nodeView{Address: n.Address, Reachable: n.Reachable, TTLMs: millis(n.TTL)}
		switch {
		case len(n.Readers) > 0:
			nv.Holders = n.Readers
		case n.Holder != "":
			nv.Holders = []string{n.Holder}
		}
		if n.Err != nil {
			nv.Error = n.Err.Error()
		}
		if len(nv.Holders) > 0 {
			example = nv.Holders[0]
		}
		v.Nodes = append(v.Nodes, nv)
	}
	if s.Held {
		example = s.Holder
		ids := s.Readers
		if len(ids) == 0 {
			ids = []string{s.Holder}
		}
		for _, hold := range ids {
			h := holderView{ID: hold, Access: parseID(hold).access, Lingers: parseID(hold).lingers}
			if hold == s.Holder {
				h.Label, h.Note, h.HeldForMs, h.TTLMs = s.Label, s.Note, millis(s.HeldFor), millis(s.TTL)
			}
			v.Holders = append(v.Holders, h)
		}
	}
	for _, w := range s.Waits {
		i := parseID(w.Hold)
		v.Waiters = append(v.Waiters, waiterView{ID: w.Hold, WaitedMs: millis(w.Waited), Access: i.access, Permits: i.take})
		if example == "" {
			example = w.Hold
		}
	}
	if example != "" {
		v.Kind, v.Permits = parseID(example).kind(), parseID(example).of
	}
	return v
}

// permits replaces the holders by those of a semaphore, and finds out how many permits it has: of several numbers,
// the largest one is the limit.
func (v *lockView) permits(s semaphore.State) {
	for _, w := range v.Waiters {
		v.Permits = max(v.Permits, parseID(w.ID).of)
	}
	v.Holders = []holderView{}
	for _, slot := range s.Slots {
		v.Permits = max(v.Permits, parseID(slot.Holder).of)
		at := slices.IndexFunc(v.Holders, func(h holderView) bool { return h.ID == slot.Holder })
		if at < 0 {
			at = len(v.Holders)
			v.Holders = append(v.Holders, holderView{
				ID: slot.Holder, Label: slot.Label, Note: slot.Note,
				HeldForMs: millis(slot.HeldFor), TTLMs: millis(slot.TTL), Lingers: parseID(slot.Holder).lingers,
			})
		}
		v.Holders[at].Slots = append(v.Holders[at].Slots, slot.Number)
	}
	for i, n := range s.Nodes {
		if i >= len(v.Nodes) {
			break
		}
		v.Nodes[i].Holders = nil
		for _, slot := range n.Slots {
			if !slices.Contains(v.Nodes[i].Holders, slot.Holder) {
				v.Nodes[i].Holders = append(v.Nodes[i].Holders, slot.Holder)
			}
		}
	}
}

// A forcer ends holds by force; each kind of lock is one.
type forcer interface {
	ForceUnlockHold(ctx context.Context, id string) (bool, error)
}

// forcer is the lock in the kind that it is.
func (v *lockView) forcer(c *lock.Client) forcer {
	switch v.Kind {
	case "semaphore":
		return semaphore.New(c, v.Name, v.Permits)
	case "read-write":
		return readwrite.New(c, v.Name)
	default:
		return reentrant.New(c, v.Name)
	}
}

// holds are the ids of all holds that any node has.
func (v *lockView) holds() []string {
	var ids []string
	for _, n := range v.Nodes {
		for _, hold := range n.Holders {
			if !slices.Contains(ids, hold) {
				ids = append(ids, hold)
			}
		}
	}
	return ids
}

// known is the id by which the nodes know a hold. People have seen that of a hold that lingers without its end.
func (v *lockView) known(hold string) string {
	if lingering := hold + lua.Lingers; slices.Contains(v.holds(), lingering) {
		return lingering
	}
	return hold
}

// millis is d in milliseconds; -1 is a TTL that never ends.
func millis(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return d.Milliseconds()
}

// span is a time in milliseconds for people.
func span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case ms < 0:
		return "no end"
	case ms == 0:
		return ""
	case d < time.Minute:
		return d.Truncate(100 * time.Millisecond).String()
	default:
		return d.Truncate(time.Second).String()
	}
}

// who is the holder for people: what it says of itself, or else its id.
func (h *holderView) who() string {
	who := h.Label
	if who == "" {
		who = h.ID
	}
	if h.Lingers {
		who = "(gone) " + strings.TrimSuffix(who, lua.Lingers)
	}
	return who
}

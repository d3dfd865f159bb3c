package lock

import (
	"github.com/holdfast-go/holdfast/internal/kind"
	"github.com/holdfast-go/holdfast/lua"
)

// numbering is the slots that the nodes have given to a tenure. It is guarded by the tenure's mu.
type numbering struct {
	slots   lua.Slots   // the hold's slots; "": it is not granted
	given   []lua.Slots // by each node, before that
	aligned bool        // the nodes that had answered by then were compared

	// Of the reserve, as the tokens of all holds are of one counter.
	after    int64 // the token before the first one of the last request
	refusals int   // how often others were granted some of the requested tokens
}

// numbers are the slots of the hold.
func (t *tenure) numbers() lua.Slots {
	if t.numbering == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.slots
}

// numbered is request with the slots of the hold.
func (t *tenure) numbered() kind.Request {
	r := t.request()
	r.Slots = t.numbers()
	return r
}

package kind

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/lua"
)

// Line is the queue that a quorum has: by the ticket that a quorum has for each waiter,
// as that is its own, or else the greatest, as it will be; and by hold id where two are
// the same.
func Line(queues [][]lua.Waiting, quorum int) (line []lua.Waiting) {
	places := make(map[string]lua.Waiting)
	nodes := make(map[string]int)
	type proposal struct {
		hold   string
		ticket int64
	}
	equal := make(map[proposal]int)
	for _, queue := range queues {
		for _, w := range queue {
			nodes[w.Hold]++
			equal[proposal{w.Hold, w.Ticket}]++
			known := places[w.Hold]
			w.Ticket, w.Waited = max(w.Ticket, known.Ticket), max(w.Waited, known.Waited)
			places[w.Hold] = w
		}
	}
	for p, n := range equal {
		if n >= quorum {
			w := places[p.hold]
			w.Ticket = p.ticket
			places[p.hold] = w
		}
	}
	ids := slices.SortedFunc(maps.Keys(places), func(a, b string) int {
		return cmp.Or(cmp.Compare(places[a].Ticket, places[b].Ticket), strings.Compare(a, b))
	})
	for _, id := range ids {
		if nodes[id] >= quorum {
			line = append(line, places[id])
		}
	}
	return line
}

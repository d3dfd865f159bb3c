package kind

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/lua"
)

// Line is the queue of a quorum. It is ordered by the ticket that a quorum has for each waiter,
// which is final, or else by the greatest one, which will be; and by hold id if two tickets are
// equal.
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

package lock

import (
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/lua"
)

const (
	// maxOvertakings is how often a process is overtaken before it says that it is far. Now and then, a
	// process is overtaken by chance.
	maxOvertakings = 3
	// farLife is how long its mark counts. After that, it is overtaken a few times again.
	farLife = 10 * time.Second
	// farSlack is by how much a chance exceeds what a process needs, besides half of that.
	farSlack = 5 * time.Millisecond
	// maxChance is the maximum that others leave the name alone for one that is far.
	maxChance = time.Second
)

// A distant is a process that is farther from the nodes than another one that takes turns with it. Whoever
// releases the name, a message to the nearer one and its attempt are faster. So the distant one leaves a mark
// on the nodes, which whoever has the name reads with its reserve of tokens, and the nearer ones leave the
// name alone for as long as the mark says: once after each of their turns, until the distant one has had its
// own. If it does not come in that time, it does not wait any more, or says so again.
//
// Nobody has to know how far others are, and nobody waits for a distant process that is not overtaken.
type distant struct {
	client string
	mark   string // its id
	chance time.Duration
	owed   bool // it has not had the name since this process had it
	spent  bool // this mark counts no more: the process did not come
	missed bool // it had its chance after this mark, and has not had the name
}

// newer reports whether the mark called id is newer than another one of the same process.
func newer(id, than string) bool { return numberOf(id) > numberOf(than) }

// clientOf returns the client whose hold, or mark, has that id.
func clientOf(id string) string {
	client, _, _ := strings.Cut(id, ":")
	return client
}

// numberOf returns the number in the id of a mark.
func numberOf(id string) int64 {
	_, number, _ := strings.Cut(id, ":")
	n, _ := strconv.ParseInt(number, 10, 64)
	return n
}

// distants adds the marks of other clients than own that a node has named: the newest one of each.
func distants(all map[string]lua.FarMark, marks []lua.FarMark, own string) map[string]lua.FarMark {
	for _, m := range marks {
		client := clientOf(m.ID)
		if client == own {
			continue
		}
		if all == nil {
			all = make(map[string]lua.FarMark)
		}
		if before, found := all[client]; !found || newer(m.ID, before.ID) {
			all[client] = m
		}
	}
	return all
}

package virtual

import (
	"crypto/sha1" //nolint:gosec // it is what Redis calls scripts by
	"encoding/hex"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// Load has the node know scripts by their hashes until it is killed or told SCRIPT FLUSH.
// miniredis would parse each of them anew for each node, which is most of the work of a
// short test.
func (n *Node) Load(sources ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, source := range sources {
		n.scripts[hash(source)] = source
	}
}

func hash(source string) string {
	sum := sha1.Sum([]byte(source)) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// script executes commands that concern scripts which were loaded, and tells whether it
// has answered.
func (n *Node) script(c *server.Peer, name string, args []string) bool {
	switch {
	case name == "SCRIPT" && len(args) == 2 && strings.EqualFold(args[0], "LOAD"):
		n.Load(args[1])
		c.WriteBulk(hash(args[1]))
		return true
	case name == "SCRIPT" && len(args) > 0 && strings.EqualFold(args[0], "FLUSH"):
		n.mu.Lock()
		clear(n.scripts)
		n.mu.Unlock()
	case name == "EVALSHA" && len(args) > 0:
		n.mu.Lock()
		source, known := n.scripts[args[0]]
		running := n.server
		n.mu.Unlock()
		if known && running != nil {
			running.Server().Dispatch(c, append([]string{"EVAL", source}, args[1:]...))
			return true
		}
	}
	return false
}

package virtual

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Memory is what the node has in it now. It must not be killed.
func (n *Node) Memory() *miniredis.Miniredis {
	m := n.running()
	if m == nil {
		panic("virtual: " + n.name + " is killed")
	}
	return m
}

// running is the server; nil: the node is killed.
func (n *Node) running() *miniredis.Miniredis {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.server
}

// Keys lists the node's keys.
func (n *Node) Keys() []string { return n.Memory().Keys() }

// Holder is the hold id that the lock at key has, and how much longer; "" if it is free.
func (n *Node) Holder(key string) (id string, ttl time.Duration) {
	fields, err := n.Memory().HKeys(key)
	if err != nil || len(fields) == 0 {
		return "", 0
	}
	return fields[0], n.Memory().TTL(key)
}

// Commands lists the scripts that the node was told to run, the messages it published
// and the channels it was asked for, of those that match accepts, in order.
func (n *Node) Commands(match func(args []string) bool) []Command {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []Command
	for _, c := range n.commands {
		if match(c.Args) {
			found = append(found, c)
		}
	}
	return found
}

// Script matches the runs of a script by its hash. A run by its source follows one by a
// hash that the node does not know, and is not counted again.
func Script(sha string) func([]string) bool {
	return func(args []string) bool {
		return len(args) > 1 && args[0] == "EVALSHA" && args[1] == sha
	}
}

// Name matches commands by their names.
func Name(names ...string) func([]string) bool {
	return func(args []string) bool { return slices.Contains(names, args[0]) }
}

// recorded are the commands worth remembering: what scripts do in detail would be the
// most of it.
var recorded = []string{"EVALSHA", "PUBLISH", "SUBSCRIBE", "UNSUBSCRIBE"}

// hook sees each command before it is executed, those of scripts included, and tells
// whether it has answered it.
func (n *Node) hook(c *server.Peer, name string, args ...string) bool {
	n.mu.Lock()
	if slices.Contains(recorded, name) {
		n.commands = append(n.commands, Command{At: time.Now(), Args: append([]string{name}, args...)})
	}
	mute, refused, up, cluster := n.mute, n.refused, time.Since(n.started), n.cluster
	n.mu.Unlock()
	switch {
	case refused != nil && refused(append([]string{name}, args...)):
		c.WriteError("NOPERM this user has no permissions to run the '" + strings.ToLower(name) + "' command")
	case mute && name == "PUBLISH":
		c.WriteInt(1)
	case cluster != nil && cluster.answer(n, c, name, args):
	case name == "INFO" && slices.Equal(args, []string{"server"}):
		c.WriteBulk(fmt.Sprintf("# Server\r\nuptime_in_seconds:%d\r\n", int(up.Seconds())))
	default:
		return n.script(c, name, args)
	}
	return true
}

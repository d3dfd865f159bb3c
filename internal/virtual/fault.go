package virtual

import (
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Start starts a node that was killed: with nothing in its memory, as a server without
// persistence. A running one is left alone.
func (n *Node) Start() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server != nil {
		return
	}
	n.scripts = make(map[string]*script)
	n.started = time.Now()
	n.server = miniredis.NewMiniRedis()
	n.server.ClockTTL(true) // by itself miniredis lets no TTL pass
	// This is how it starts without a listener.
	if c, err := n.server.Dial(); err == nil {
		_ = c.Close()
	}
	n.runner = &runner{memory: n.server, server: n.server.Server()}
	n.server.Server().SetPreHook(n.hook)
}

// Kill ends the node: its memory is gone, its connections are broken, and new ones
// are refused.
func (n *Node) Kill() {
	n.mu.Lock()
	server, runner := n.server, n.runner
	n.server, n.runner = nil, nil
	n.mu.Unlock()
	if server != nil {
		n.conns.close()
		server.Close()
		runner.end()
	}
}

// Restart kills the node and starts it again, with an empty memory.
func (n *Node) Restart() {
	n.Kill()
	n.Start()
}

// Reboot restarts the node with what it has in its memory, as a server that persists.
func (n *Node) Reboot() {
	n.mu.Lock()
	n.started = time.Now()
	n.mu.Unlock()
	n.conns.close()
}

// Pause stops the node, like a process by SIGSTOP: it accepts connections and commands,
// and executes none until Resume.
func (n *Node) Pause() { n.paused.set(true) }

// Resume has a paused node go on: with all commands that have come meanwhile, even if
// their clients gave up long ago.
func (n *Node) Resume() { n.paused.set(false) }

// Silence cuts the node off, as a firewall does that drops every packet: what is sent
// on its connections is lost without a word, and dials hang. With false new connections
// are made again, those of dials that hang at once; the old ones stay dead.
func (n *Node) Silence(on bool) {
	n.silent.set(on)
	if on {
		n.conns.cut()
	}
}

// SetDelay makes the way to the node and the way back slow.
func (n *Node) SetDelay(request, reply time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.request, n.reply = request, reply
}

// Mute has the node tell its subscribers nothing. Whoever publishes is told that one
// heard it.
func (n *Node) Mute(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mute = on
}

// Refuse has the node answer commands that match with an error, and not run them; nil ends it.
func (n *Node) Refuse(match func(args []string) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused = match
}

// Delete deletes keys, unless the node is killed.
func (n *Node) Delete(keys ...string) {
	if m := n.running(); m != nil {
		for _, key := range keys {
			m.Del(key)
		}
	}
}

// Publish sends a message to the subscribers of a channel, unless the node is killed.
func (n *Node) Publish(channel, message string) {
	if m := n.running(); m != nil {
		m.Publish(channel, message)
	}
}

// Flush empties the node's memory, by FLUSHALL.
func (n *Node) Flush() { n.Memory().FlushAll() }

package locktest

import "time"

// Stop kills a node, counted from 0: connections to it break, new ones are refused, and the
// contents of its memory are lost, like those of a server without persistence.
func (f *Fake) Stop(node int) {
	f.t.Helper()
	f.checkNodes("Stop", node)
	f.nodes[node].Kill()
}

// Start starts a stopped node, which is empty then. A running node is left alone.
func (f *Fake) Start(node int) {
	f.t.Helper()
	f.checkNodes("Start", node)
	f.nodes[node].Start()
}

// Partition cuts the program (Fake.Client and the clients of Fake.Redis) off from nodes: its
// commands are lost silently, and connections cannot be made, until Heal. Without an argument, it
// cuts the program off from every node. Other processes, and Hold, still reach the nodes: the lock
// may go to somebody else meanwhile.
func (f *Fake) Partition(nodes ...int) {
	f.t.Helper()
	f.checkNodes("Partition", nodes...)
	f.settle()
	if len(nodes) == 0 {
		f.program.host.Silence(true)
	}
	for _, i := range nodes {
		f.program.host.Cut(i, true)
	}
}

// Heal ends every Partition. As with real servers, connections that could not be made meanwhile are tried again a moment
// later: Advance by some seconds if every node must answer the next call.
func (f *Fake) Heal() { f.program.host.Silence(false) }

// Delay makes every command take d from now on, half of it on the way to a node and half on the way
// back. Without a delay, commands take no time in a bubble, where time stands still while any
// goroutine has work to do. So a loop that locks and unlocks without end needs a delay.
func (f *Fake) Delay(d time.Duration) {
	for _, n := range f.nodes {
		n.SetDelay(d/2, d-d/2)
	}
}

// checkNodes ends the test unless there are such nodes.
func (f *Fake) checkNodes(call string, nodes ...int) {
	f.t.Helper()
	for _, i := range nodes {
		if i < 0 || i >= len(f.nodes) {
			f.t.Fatalf("locktest: %s(%d): there are %d nodes, from 0 on", call, i, len(f.nodes))
		}
	}
}

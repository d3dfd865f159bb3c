package locktest

import "time"

// Stop kills node i, from 0 on: connections to it break, new ones are refused, and what it had
// in its memory is gone, as of a server without persistence.
func (f *Fake) Stop(node int) {
	f.t.Helper()
	f.checkNodes("Stop", node)
	f.nodes[node].Kill()
}

// Start starts a stopped node, which is empty. One that runs is left alone.
func (f *Fake) Start(node int) {
	f.t.Helper()
	f.checkNodes("Start", node)
	f.nodes[node].Start()
}

// Partition cuts the program, which is [Fake.Client] and those of [Fake.Redis], off from nodes: what it sends is lost
// without a word, and connections cannot be made, until Heal. Without an argument that goes for every node. Other
// processes, and Hold, still reach them: the lock may go to somebody else meanwhile.
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

// Heal ends every Partition.
func (f *Fake) Heal() { f.program.host.Silence(false) }

// Delay has every command take d from now on, half of it on the way to a node and half on the way back.
// Without it, commands take no time in a bubble, where time stands still while anybody has work
// to do: a loop that locks and unlocks without end needs a delay.
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

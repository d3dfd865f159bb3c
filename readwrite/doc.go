// Package readwrite is a lock that many may hold to read or one to write, over one Redis node or a
// quorum of several: sync.RWMutex across processes and machines.
//
//	config := readwrite.New(locks, "config")
//
//	lease, err := config.RLock(ctx) // with others who read
//	lease, err := config.Lock(ctx)  // alone
//
// # Order
//
// There is one queue for both, first come, first served. Those who read and stand next to each other enter
// together. Nobody who reads passes somebody who has begun to wait to write, and whoever writes waits for no more
// than those who were there before: neither kind can shut the other out.
//
// # Readers of one process
//
// They share what their process has at the nodes: while one goroutine reads, others join it without a
// command, each with a lease of its own. They stop to join as soon as their process learns that somebody
// waits to write: at once by a message, within 50 ms without it. So reading costs next to nothing where it goes
// on most of the time; a single read lock costs a round trip, as every lock does.
//
// # A process that writes
//
// While a process has the lock to write, and nobody of another process waits, its goroutines have their turns
// within that without a command, first come, first served: one that writes alone, with a token of its own, and those
// that read together. So a process that is alone with a name reads and writes it in memory. Once somebody elsewhere waits, whoever comes
// goes behind it: at once by a message, within 50 ms without it. Elsewhere such a process is seen to write, and
// TryRLock is refused, for 50 ms after its last writer at the most, though others of it read.
//
// # Re-entry, downgrade and upgrade
//
// An owner that reads can read again, one that writes can write and read again. One that writes and reads may end
// writing first: it goes on reading without a gap, and whoever waits to read at the head of the queue comes in.
// One that only reads cannot write: it would wait for itself, and two of them for each other. It is refused at once
// with [lock.ErrUpgrade].
//
// # Tokens
//
// Whoever writes gets a fencing token that is greater than all before. Whoever reads has that of who wrote
// last, so a resource can refuse one whose reading is older than a write that it has seen.
//
// # Many nodes
//
// A writer has a majority of the nodes without anybody else on it, a reader a majority on which nobody writes. Two
// majorities meet, so there is never one of each. On every node each reader has a deadline of its own, by the
// node's clock: a process that crashes frees its place after its TTL, and no renewal of others keeps it.
//
// # When to take it
//
// Where most read, reading takes a while, and readers may not see a write half done. Where reading takes no
// longer than a round trip, a [reentrant] mutex does as well; where what is read can be replaced as a whole by one
// command, no lock is needed to read it.
//
// [reentrant]: https://pkg.go.dev/github.com/holdfast-go/holdfast/reentrant
package readwrite

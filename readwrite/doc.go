// Package readwrite is a lock that either many readers or one writer may hold, over one Redis node
// or a quorum of several. It is sync.RWMutex across processes and machines.
//
//	config := readwrite.New(locks, "config")
//
//	lease, err := config.RLock(ctx) // shared with other readers
//	lease, err := config.Lock(ctx)  // alone
//
// # Order
//
// Readers and writers share one queue: first come, first served. Adjacent readers enter together.
// No reader overtakes a writer that its process knows to wait, and a writer waits only for those who were
// there before that, so neither kind can starve the other.
//
// # Readers of one process
//
// Readers of one process share what their process holds at the nodes: while one goroutine reads,
// others join it without a command, each with a lease of its own, as long as the last answer of the
// nodes is younger than 50 ms. The process asks them every 25 ms while readers keep coming. No more join once their process learns that somebody waits to write. It learns of that by a
// message at once, or within 50 ms and a round trip if the message is lost. So reading costs next to
// nothing if somebody begins to read all the time; a single read lock costs a round trip, like every
// lock.
//
// # A process that writes
//
// While a process holds the write lock and nobody in another process waits, its goroutines take
// turns within that hold without a command, first come, first served: a writer alone, with a token
// of its own, and readers together. So a process that is alone with a name reads and writes it in
// memory. Once somebody elsewhere waits, new callers queue behind it. The process learns of that by
// a message at once, or within 50 ms and a round trip without it. Other processes see a writer, and
// refuse TryRLock, for at most 50 ms after its last writer, even if only its readers are left. If a
// message takes more than 10 ms to the nodes, it is that much longer.
//
// # Re-entry, downgrade and upgrade
//
// A reading owner can take the read lock again. A writing owner can take both again. An owner that
// has both may release the write lock first: it continues to read without a gap, and readers
// waiting at the head of the queue come in. They do as well when its last write lease is lost alone, past
// its time limit or because its context has ended, unless the lock is to rest after an expiry
// ([lock.WithRest]): then the owner has it alone until it releases it, or writes again and downgrades. An owner that only reads cannot write: it would wait
// for itself, and two such owners would wait for each other. It is refused at once with
// [lock.ErrUpgrade].
//
// # Tokens
//
// A writer gets a fencing token that is greater than all before. A reader has the last writer's
// token, so a resource can refuse a reader that is older than a write it has seen. That is what a reader's
// token is for: as long as nobody has written, readers on several nodes may have different ones, and
// a later one's may be less. Compare it with the tokens of those who write, not with those of other readers.
//
// # Many nodes
//
// A writer has a majority of the nodes with nobody else on them. A reader has a majority with no
// writer on them. Two majorities share a node, so a reader and a writer never hold the lock at
// once. On every node each reader has its own deadline, by the node's clock: a process that crashes
// frees its place after its TTL, and renewals by others do not prolong it.
//
// # When to use it
//
// Use it if most callers read, reading takes a while, and readers must not see a half-finished
// write. If reading takes no longer than a round trip, a [reentrant] mutex does as well. If one
// command can replace all that is read, readers need no lock.
//
// [reentrant]: https://pkg.go.dev/github.com/holdfast-go/holdfast/reentrant
package readwrite

package main

import (
	"cmp"
	"fmt"
	"time"
)

// A Cell is one kind of run: what is set up, and what goes wrong.
type Cell struct {
	Name     string
	N        int // nodes
	Shards   int // of the Cluster that is the only node; 0: nodes are servers by themselves
	Faults   []Kind
	Disk     Disk // what a killed node finds; empty: nothing
	Guard    time.Duration
	TTL      time.Duration
	Pace     time.Duration // of what workers do
	Long     int           // percent of leases that last for about a TTL
	Timeout  time.Duration // of a node
	Every    time.Duration // the longest time between two faults of a storm
	Duration time.Duration
	Locks    []string
	Brief    bool          // stops are short: nothing expires, but much comes late
	Rest     time.Duration // a stopped node is left alone afterwards; its stops outlast the TTL
	Workers  int
	Crew     int             // goroutines of each worker
	Turn     time.Duration   // nodes are killed one after the other, each for so long; 0: faults are drawn
	Pause    time.Duration   // between two turns
	Stopped  bool            // one node is stopped nearly all the time; no other faults are drawn
	Hold     time.Duration   // each lease is held so long, renewed, and entered again at the end; 0: it is drawn
	Outstay  bool            // no lease is renewed, and each is kept until it is over
	Passing  bool            // most holds are to be passed on within a process
	Transfer bool            // locks are accounts: each is taken together with the other one, by package multi
	Election bool            // locks are elections: workers are candidates, by package election
	Reads    int             // of a hundred calls for a read-write lock, those to read
	MinHold  time.Duration   // for which a lock stays taken from its grant
	Rested   time.Duration   // for which it stays taken after a holder that crashed or lost it
	Beat     time.Duration   // the heartbeat of who waits in a queue; 0: two seconds
	Stall    time.Duration   // for no longer nobody has a lock that somebody waits for; 0: maxStall
	Trips    []time.Duration // from each worker to a node and back; nil: all are near
}

func (c Cell) workers() int { return max(c.Workers, 1) }

// servers is how many there are.
func (c Cell) servers() int { return max(c.N, c.Shards) }

func (c Cell) every() time.Duration { return max(c.Every, time.Millisecond) }

func (c Cell) String() string { return fmt.Sprintf("%s N=%d", c.Name, c.N) }

// heartbeat is that of who waits in a queue.
func (c Cell) heartbeat() time.Duration { return cmp.Or(c.Beat, 2*time.Second) }

// stall is for how long nobody may have a lock while somebody waits for it and a quorum is well.
func (c Cell) stall() time.Duration { return cmp.Or(c.Stall, maxStall) }

func (c Cell) quorum() int { return c.N/2 + 1 }

// climate is the weather between a worker and every node while nothing goes wrong.
func (c Cell) climate(worker int) (w Weather) {
	if len(c.Trips) > 0 {
		w.Delay = c.Trips[worker] / 2
	}
	return w
}

// has tells whether a kind of fault belongs to the cell.
func (c Cell) has(kinds ...Kind) bool {
	for _, f := range c.Faults {
		for _, k := range kinds {
			if f == k {
				return true
			}
		}
	}
	return false
}

// kept tells whether all that the promises rest on is kept.
func (c Cell) kept() bool {
	for _, k := range c.Faults {
		if k.breaks() {
			return false
		}
	}
	return true
}

// base is what cells have in common.
var base = Cell{
	TTL:      800 * time.Millisecond,
	Pace:     800 * time.Millisecond,
	Long:     8,
	Timeout:  100 * time.Millisecond,
	Every:    500 * time.Millisecond,
	Duration: 12 * time.Second,
	Locks:    []string{"orders", "stock", "fair-desk"},
	Workers:  3,
	Crew:     4,
}

// guard is longer than every TTL in use, which an Extend asks for.
const guard = time.Second

func cell(name string, n int, change func(*Cell), faults ...Kind) Cell {
	c := base
	c.Name, c.N, c.Faults = name, n, faults
	if change != nil {
		change(&c)
	}
	return c
}

func disk(d Disk) func(*Cell) {
	return func(c *Cell) {
		c.Disk = d
		if d != Always {
			c.Guard = guard
		}
	}
}

// long has workers keep many of their leases until the TTL is over, or longer.
func long(c *Cell) { c.Long = 40 }

// longer is long, with TTLs that are soon over.
func longer(c *Cell) { c.Long, c.TTL = 60, 500*time.Millisecond }

// forgetful is a cell whose only node forgets leases that are far from over when it is back, however busy the machine
// is, and whose holders do not ask it before they are.
func forgetful() Cell {
	return cell("kill nodes, nothing on disk, guard, no renewals", 1, func(c *Cell) {
		disk(Nothing)(c)
		c.TTL, c.Guard = 8*time.Second, 9*time.Second
		c.Turn, c.Pause, c.Outstay = time.Millisecond, 3*time.Second, true
	}, KillNode)
}

// alone has each worker keep its leases until they are over, with nobody of its process who would find out that one is.
func alone(c *Cell) { c.Crew, c.Outstay = 1, true }

// late is a cell in which much arrives late and nothing expires meanwhile: what is left
// behind can be seen.
func late(n int) Cell {
	return cell("late", n, func(c *Cell) {
		c.TTL, c.Brief, c.Long = 4*time.Second, true, 0
		c.Every = 250 * time.Millisecond
	}, StopNode, CutUp, CutDown, Reset)
}

// stalled is a cell in which all that a stopped node was sent comes after the TTL, and what
// that leaves behind would be there for another one, with nothing wrong any more to excuse it.
func stalled(n int) Cell {
	return cell("stop nodes for longer than the TTL", n, func(c *Cell) {
		c.TTL, c.Rest, c.Long = 3*time.Second, 3500*time.Millisecond, 0
		c.Duration = 24 * time.Second
		c.Locks = nil
		for i := range 6 {
			c.Locks = append(c.Locks, fmt.Sprint("orders-", i), fmt.Sprint("fair-desk-", i))
		}
	}, StopNode)
}

// inTurn is a cell whose nodes go one after the other, each for longer than a TTL, so that what
// it had is gone when it is back. Holds last longer than that: they are kept if the other nodes
// have them, and a node that is back has them before the next one goes.
func inTurn(n int) Cell {
	return cell("kill nodes in turn, AOF always", n, func(c *Cell) {
		disk(Always)(c)
		c.TTL, c.Turn, c.Pause, c.Hold = time.Second, 1500*time.Millisecond, time.Second, 2500*time.Millisecond
		c.Crew, c.Duration = 8, 16*time.Second
		c.Locks = nil
		for i := range 6 {
			c.Locks = append(c.Locks, fmt.Sprint("orders-", i), fmt.Sprint("fair-desk-", i))
		}
	}, KillNode)
}

// inventory is a cell that does what a program did that kept stock: many short holds of many
// names, while five nodes go one after the other and come back empty. No request fails.
func inventory() Cell {
	return cell("kill nodes in turn, nothing on disk", 5, func(c *Cell) {
		c.Disk = Nothing
		c.TTL, c.Turn, c.Pause, c.Hold = time.Second, 1500*time.Millisecond, 1500*time.Millisecond, 500*time.Millisecond
		c.Crew, c.Duration = 15, 16*time.Second
		c.Locks = nil
		for i := range 60 {
			c.Locks = append(c.Locks, fmt.Sprint("item-", i))
		}
	}, KillNode)
}

// patient is a cell whose workers wait for a slow node for longer than a TTL.
func patient(n int) Cell {
	return cell("slow network, patient workers", n, func(c *Cell) {
		long(c)
		c.Timeout = 2 * time.Second
	}, Slow)
}

// sharded is a cell in which one shard of a Cluster after the other is stuck for longer than the
// TTL, while names of all of them are locked.
func sharded() Cell {
	return cell("one shard of three stuck", 1, func(c *Cell) {
		c.Shards, c.Timeout = 3, time.Second
		c.TTL, c.Rest, c.Long = 4*time.Second, time.Second, 30
		c.Duration, c.Crew = 30*time.Second, 8
		c.Locks = nil
		for i := range 4 { // each shard has some of both kinds
			c.Locks = append(c.Locks, fmt.Sprint("orders-", i), fmt.Sprint("fair-desk-", i))
		}
	}, StopNode)
}

// crowded is a cell in which so many work on so many names that their calls leave in batches.
func crowded(n int) Cell {
	return cell("many names, AOF always", n, func(c *Cell) {
		disk(Always)(c)
		c.Crew, c.Pace, c.Long = 24, 100*time.Millisecond, 1
		c.Locks = nil
		for i := range 12 {
			c.Locks = append(c.Locks, fmt.Sprint("orders-", i), fmt.Sprint("fair-desk-", i))
		}
	}, harmless...)
}

// passing is a cell in which so many goroutines of few processes want one name, for a moment
// each, that most of them have it from one another.
func passing(n int, faults ...Kind) Cell {
	return cell("passed on within processes, AOF always", n, func(c *Cell) {
		disk(Always)(c)
		c.Passing = true
		c.Crew, c.Pace, c.Long = 16, 90*time.Millisecond, 0
		c.Locks = []string{"orders"}
	}, faults...)
}

// pairs is c with two workers: one of them has the name half of the time, and the other one gets it when that is cut off.
func pairs(c Cell) Cell {
	c.Name += ", two processes"
	c.Workers, c.TTL = 2, 500*time.Millisecond
	return c
}

// transferring is a cell in which money goes both ways between two accounts, whose locks are
// taken together, in either order.
func transferring(n int, faults ...Kind) Cell {
	name := "transfers between accounts, AOF always"
	if len(faults) == 0 {
		name = "transfers between accounts, calm"
	}
	return cell(name, n, func(c *Cell) {
		disk(Always)(c)
		c.Transfer = true
		c.Crew, c.Pace, c.Long = 6, 300*time.Millisecond, 0
		c.Locks = []string{"ann", "bob"}
	}, faults...)
}

// electing is a cell in which all are candidates for one leadership. Some resign, some lead until
// their context ends, and some of these go on for longer than a TTL.
func electing(n int, faults ...Kind) Cell {
	name := "elections, AOF always"
	if len(faults) == 0 {
		name = "elections, calm"
	}
	return cell(name, n, func(c *Cell) {
		disk(Always)(c)
		c.Election = true
		c.Long = 0
		c.Locks = []string{"fair-leader"} // an election is a fair lock
	}, faults...)
}

// reading is a cell in which most read and some write: some of these read below and go on reading, and some
// that read ask to write.
func reading(n int, faults ...Kind) Cell {
	return cell("readers and writers, AOF always", n, func(c *Cell) {
		disk(Always)(c)
		c.Reads, c.Crew, c.Pace, c.Long = 70, 6, 500*time.Millisecond, 15
		c.Locks = []string{"shared-config", "shared-index"}
	}, faults...)
}

// readingOnly is a cell in which nobody writes, so that nobody who reads has to stop for others.
func readingOnly(n int, faults ...Kind) Cell {
	c := reading(n, faults...)
	c.Name, c.Reads = "readers only, AOF always", 100
	return c
}

// sharing is a cell in which so many goroutines of few processes read that somebody does all the time.
func sharing(n int) Cell {
	c := reading(n)
	c.Name, c.Reads, c.Crew, c.Pace = "many readers, some writers, AOF always", 99, 80, 500*time.Millisecond
	c.Locks = c.Locks[:1]
	c.Long = 0 // nobody waits to write for as long as these last
	return c
}

// seating is a cell in which many want one or two of three permits.
func seating(n int, faults ...Kind) Cell {
	return cell("permits, AOF always", n, func(c *Cell) {
		disk(Always)(c)
		c.Crew, c.Pace, c.Long = 6, 400*time.Millisecond, 10
		c.Locks = []string{"permits-a", "permits-b"}
	}, faults...)
}

// forgetting is a cell whose nodes lose all permits that they gave, and are kept from giving any for a while.
func forgetting(n int) Cell {
	c := seating(n, KillNode)
	c.Name = "permits, nothing on disk, guard"
	disk(Nothing)(&c)
	return c
}

// wakened is a cell in which nothing goes wrong and no sign of life makes up for a message that nobody sent: who
// waits for permits has them as soon as they are given back, two at once where each was another's.
func wakened(n int) Cell {
	c := seating(n)
	c.Name = "permits, woken by messages alone"
	c.Long, c.Beat, c.Stall = 0, time.Minute, 500*time.Millisecond
	c.Locks = []string{"permits-a"}
	return c
}

// minority is a cell in which one node is stopped nearly all the time, and requests that nodes have given different
// permits must not keep each other from having any.
func minority(n int) Cell {
	c := seating(n, StopNode)
	c.Name = "permits, one node is stopped"
	c.Stopped = true
	c.Crew, c.Pace, c.Long = 3, 20*time.Millisecond, 0
	c.TTL, c.Timeout, c.Stall = 4*time.Second, 200*time.Millisecond, 700*time.Millisecond
	c.Duration = 20 * time.Second
	c.Locks = []string{"permits-a"}
	return c
}

// staying is a cell in which locks stay taken when nobody works under them any more: for a
// while from their grant, and after a holder that crashed.
func staying(n int, faults ...Kind) Cell {
	return cell("minimum hold and rest, AOF always", n, func(c *Cell) {
		disk(Always)(c)
		c.MinHold, c.Rested, c.Long = 600*time.Millisecond, time.Second, 40
	}, faults...)
}

// distant is a cell whose workers have one goroutine each, which comes back as soon as it has given a name back, and one of
// two is farther from the nodes than the other, which could be back before it has heard of each release.
func distant(n int) Cell {
	return cell("one of two workers is far away", n, func(c *Cell) {
		c.Workers, c.Crew, c.Hold, c.Pace = 2, 1, 40*time.Millisecond, time.Millisecond
		c.Trips = []time.Duration{0, 20 * time.Millisecond}
		c.Locks = c.Locks[:1]
	})
}

// faults that leave what the promises rest on as it is, as long as servers keep on disk
// what they confirm.
var harmless = []Kind{
	KillNode, StopNode, LoseRequest, LoseReply, Reset, Slow, CutUp, CutDown, Isolate, StopWorker, KillWorker,
	KillPubSub, FlushScripts, ClockDrift,
}

// cells are what `make chaos` runs: each kind of fault alone, and then together.
func cells() []Cell {
	var list []Cell
	add := func(name string, change func(*Cell), faults ...Kind) {
		for _, n := range []int{1, 3, 5} {
			list = append(list, cell(name, n, change, faults...))
		}
	}
	add("calm", nil)
	add("kill nodes, AOF always", disk(Always), KillNode)
	add("kill nodes, nothing on disk, guard", disk(Nothing), KillNode)
	add("kill nodes, stale snapshot, guard", disk(Stale), KillNode)
	add("stop nodes", nil, StopNode)
	add("requests lost", nil, LoseRequest)
	add("replies lost", nil, LoseReply)
	add("connections reset", nil, Reset)
	add("slow network", nil, Slow)
	add("one way silent", nil, CutUp, CutDown)
	add("workers cut off", longer, Isolate)
	add("stop workers", nil, StopWorker)
	add("kill workers", nil, KillWorker)
	add("pubsub killed", nil, KillPubSub)
	add("script flush", nil, FlushScripts)
	add("flushall", nil, FlushAll)
	add("clock jumps", nil, ClockJump)
	add("clock drift", long, ClockDrift)
	for _, n := range []int{1, 3, 5} {
		list = append(list, late(n), stalled(n), patient(n), crowded(n), passing(n, harmless...), transferring(n, harmless...),
			electing(n, harmless...), staying(n, harmless...), reading(n, harmless...), seating(n, harmless...))
	}
	list = append(list, transferring(1), transferring(3), electing(1), electing(3), reading(1), readingOnly(3, KillWorker), sharing(3), seating(3), forgetting(1), forgetting(3), seating(3, KillWorker), wakened(1), wakened(3), minority(3), minority(5), distant(1), distant(3), sharded(), inTurn(3), inTurn(5), inventory())
	add("everything, AOF always", disk(Always), harmless...)
	add("everything, nothing on disk, guard", disk(Nothing), harmless...)
	return list
}

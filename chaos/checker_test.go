package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/fifo"
	"github.com/holdfast-go/holdfast/lock"
)

// Moments of hand-made histories are milliseconds.
const ms = int64(time.Millisecond)

// had is a lease that was asked for, granted and unlocked at these moments.
func had(proc string, op int64, name, hold string, token int64, asked, granted, unlocked int64) *Call {
	ttl := int64(base.TTL)
	return &Call{
		Proc: proc, Op: op, Name: name, Blocks: true, Hold: hold, Token: token, Count: 1, TTL: ttl,
		Invoke: asked * ms, Return: granted * ms, Held: unlocked * ms,
		Start: (granted - 1) * ms, First: (granted-1)*ms + ttl, Deadline: (granted-1)*ms + ttl,
		Unlock: unlocked * ms, Unlocked: (unlocked + 1) * ms,
	}
}

// looked is what all nodes had at one moment.
func looked(at int64, name string, s Sight) Look {
	s.OK = true
	return Look{From: at * ms, To: (at + 1) * ms, Name: name, Nodes: []Sight{s, s, s}}
}

// wrote is an update of the register, by a lease.
func wrote(c *Call, from int64) []Access {
	read := Access{At: c.Return, Proc: c.Proc, Op: c.Op, Name: c.Name, Token: c.Token, Value: from, OK: true}
	write := read
	write.At, write.Write, write.Base, write.Value = c.Return+1, true, from, from+1
	return []Access{read, write}
}

// good is a history in which all went well.
func good() *History {
	a := had("w0.0", 1, "orders", "A", 10, 0, 1, 50)
	again := had("w0.0", 2, "orders", "A", 10, 5, 6, 20)
	again.Within, again.Count = 1, 2
	b := had("w1.0", 1, "orders", "B", 11, 2, 52, 100)
	first := had("w0.0", 3, "fair-desk", "F1", 5, 200, 201, 240)
	second := had("w1.0", 2, "fair-desk", "F2", 6, 205, 242, 260)
	third := had("w2.0", 1, "fair-desk", "F3", 7, 220, 262, 270)
	h := &History{
		Cell:  cell("by hand", 3, nil),
		Calls: []*Call{a, again, b, first, second, third},
		Looks: []Look{
			looked(10, "orders", Sight{Hold: "A", Count: 2}),
			looked(60, "orders", Sight{Hold: "B", Count: 1}),
			looked(210, "fair-desk", Sight{Hold: "F1", Count: 1, Queue: []fifo.Place{{Hold: "F2", Ticket: 2}}}),
			looked(230, "fair-desk", Sight{Hold: "F1", Count: 1, Queue: []fifo.Place{{Hold: "F2", Ticket: 2}, {Hold: "F3", Ticket: 3}}}),
		},
		Store:  slices.Concat(wrote(a, 0), wrote(b, 1), wrote(first, 0), wrote(second, 1)),
		Healed: 800 * ms,
		End:    1000 * ms,
		killed: make(map[string]int64),
	}
	h.sort()
	return h
}

// call finds a call of a history.
func (h *History) call(hold string) *Call {
	for _, c := range h.Calls {
		if c.Hold == hold && c.Count == 1 {
			return c
		}
	}
	return nil
}

// forgetful has a node forget a hold, whose release takes so many milliseconds and says that it was lost.
func (h *History) forgetful(hold string, release int64) {
	h.Cell.Guard = guard
	h.Faults = []Fault{{Kind: KillNode, Node: 0, Worker: all, Began: 70 * ms, Ended: 75 * ms}}
	c := h.call(hold)
	c.Over, c.Deadline, c.Unlocked = lock.ReasonGone.String(), 900*ms, c.Unlock+release*ms
}

// sharded makes the nodes shards of a Cluster, the second of which is stuck.
func (h *History) sharded() {
	h.Cell.Shards, h.Shards = 3, map[string]int{"orders": 0, "fair-desk": 1}
	h.Faults = []Fault{{Kind: StopNode, Node: 1, Worker: all, Began: 10 * ms}}
}

// elect makes the names elections, in which nobody leads twice at once.
func (h *History) elect() {
	h.Cell.Election = true
	h.Calls = slices.DeleteFunc(h.Calls, func(c *Call) bool { return c.Within > 0 })
	h.Looks[0] = looked(10, "orders", Sight{Hold: "A", Count: 1})
}

// queued has a candidate of a process that has led before stand in the queue for long.
func (h *History) queued() {
	h.elect()
	h.call("F1").Hold = "w:1"
	h.Looks = h.Looks[:2]
	h.Calls = append(h.Calls, &Call{Proc: "w0.0", Op: 9, Name: "fair-desk", Invoke: 300 * ms})
	for at := int64(310); at < 4_000; at += 100 {
		h.Looks = append(h.Looks, looked(at, "fair-desk", Sight{Queue: []fifo.Place{{Hold: "w:2", Ticket: 4}}}))
	}
	h.End = 4_000 * ms
}

// share makes the mutex a read-write lock, which A and B read one after the other, and then together.
func (h *History) share() {
	for _, c := range h.Calls {
		if c.Name == "orders" {
			c.Name, c.Reads, c.Token = "shared", true, 10
		}
	}
	for i, l := range h.Looks {
		if l.Name == "orders" {
			h.Looks[i].Name = "shared"
		}
	}
	h.Store = slices.DeleteFunc(h.Store, func(a Access) bool { return a.Name == "orders" })
	h.call("B").Return, h.call("B").Held = 30*ms, 30*ms
}

// lose has the lease end at a moment, for a reason.
func (c *Call) lose(at int64, why lock.Reason) {
	c.Lost, c.Held, c.Over = at*ms, (at-1)*ms, why.String()
	c.Unlock, c.Unlocked = 0, 0
}

func found(h *History) []string {
	var by []string
	for _, v := range check(h) {
		if !slices.Contains(by, v.Checker) {
			by = append(by, v.Checker)
		}
	}
	return by
}

func TestAGoodHistoryHasNoViolation(t *testing.T) {
	require.Empty(t, check(good()))
	shared := good()
	shared.share()
	require.Empty(t, check(shared))
}

// damages are what each checker must find.
var damages = []struct {
	by, what string
	do       func(*History)
}{
	{"exclusion", "two have the lock at once", func(h *History) { h.call("B").Return = 30 * ms }},
	{"exclusion", "one is granted it before the other's deadline, who never unlocked", func(h *History) {
		h.call("A").Unlock, h.call("A").Unlocked = 0, 0
	}},
	{"tokens", "two holds with one token", func(h *History) { h.call("B").Token = 10 }},
	{"tokens", "a later hold with a lesser token", func(h *History) { h.call("B").Token = 9 }},
	{"tokens", "a re-entry with another token", func(h *History) { h.Calls[1].Token = 11 }},
	{"loss", "a lease says that it is held after its deadline", func(h *History) { h.call("A").Late = 900 * ms }},
	{"loss", "a lease never says that it is over", func(h *History) { h.call("A").Silent = true }},
	{"loss", "a lease is over when it is granted", func(h *History) { h.call("F3").First = h.call("F3").Return - 300*ms }},
	{"model", "a count that skips one", func(h *History) { h.Calls[1].Count = 3 }},
	{"model", "a hold that begins with a count of two", func(h *History) { h.call("B").Count = 2 }},
	{"register", "an update overwrites another", func(h *History) { h.Store[3].Base = 0 }},
	{"order", "a fair lock serves the third before the second", func(h *History) {
		second, third := h.call("F2"), h.call("F3")
		second.Return, third.Return = third.Return, second.Return
		h.sort()
	}},
	{"counts", "a node counts a lease twice", func(h *History) { h.Looks[0].Nodes[1].Count = 3 }},
	{"litter", "a node has a hold that nobody was granted", func(h *History) {
		for at := int64(300); at < 2400; at += 100 {
			h.Looks = append(h.Looks, looked(at, "orders", Sight{Hold: "Z", Count: 1}))
		}
	}},
	{"litter", "a node has a hold, and another process did not run", func(h *History) {
		for at := int64(300); at < 2400; at += 100 {
			h.Looks = append(h.Looks, looked(at, "orders", Sight{Hold: "B", Count: 1}))
		}
		h.asleep = []span{{"w0.0", 1_000 * ms, 1_500 * ms}}
	}},
	{"flush", "a lease is renewed on after every node forgot it", func(h *History) {
		h.Faults = []Fault{{Kind: FlushAll, Node: all, Worker: all, Began: 10 * ms, Ended: 11 * ms}}
		a := h.call("A")
		a.Deadline, a.Unlock, a.Unlocked = 2000*ms, 1900*ms, 1901*ms
	}},
	{"kept", "a lease is lost while a minority is down", func(h *History) {
		h.Faults = []Fault{{Kind: KillNode, Node: 0, Worker: all, Began: 10 * ms}}
		h.call("B").lose(90, lock.ReasonNotRenewed)
	}},
	{"kept", "a lease is lost long after the machine was busy", func(h *History) {
		b := h.call("B")
		b.lose(4_000, lock.ReasonNotRenewed)
		h.asleep = []span{{"w1.0", 60 * ms, 80 * ms}}
		h.End = 5_000 * ms
	}},
	{"kept", "a lease turns out to be lost when it is unlocked", func(h *History) {
		h.call("B").Over = lock.ReasonGone.String()
	}},
	{"kept", "a release does not heed that the guard keeps a node out", func(h *History) { h.forgetful("B", 90) }},
	{"kept", "a patient request is refused", func(h *History) {
		h.Cell.Hold = time.Millisecond
		h.Calls = append(h.Calls, &Call{Proc: "w2.0", Op: 2, Name: "orders", Invoke: 300 * ms, Return: 400 * ms, Err: "no"})
	}},
	{"kept", "an unlock fails", func(h *History) {
		h.Cell.Hold = time.Millisecond
		h.call("B").Failed = "no"
	}},
	{"progress", "a waiter waits on and on", func(h *History) {
		h.Calls = append(h.Calls, &Call{Proc: "w2.0", Op: 2, Name: "orders", Blocks: true, Invoke: 300 * ms})
		h.End = 20_000 * ms
	}},
	{"progress", "the last to ask gets nothing, with nothing in the way", func(h *History) {
		h.Calls = append(h.Calls, &Call{
			Proc: "w2.0", Op: 2, Name: "orders", Blocks: true, Final: true, Invoke: 900 * ms, Return: 950 * ms, Err: "no",
		})
	}},
	{"progress", "a worker does not end", func(h *History) { h.Stuck = true }},
	{"shards", "a lease is lost while its own shard is well", func(h *History) {
		h.sharded()
		a := h.call("A")
		a.Lost, a.Unlock, a.Unlocked = 50*ms, 0, 0
	}},
	{"shards", "nobody can ask for a lock while its own shard is well", func(h *History) {
		h.sharded()
		h.Calls = append(h.Calls, &Call{Proc: "w2.0", Op: 2, Name: "orders", Invoke: 900 * ms, Return: 950 * ms, Refused: true})
	}},
	{"reign", "a process passes a name on to itself for longer than it may", func(h *History) {
		h.Calls = append(h.Calls, had("w2.0", 2, "orders", "C", 12, 290, 300, 310), had("w2.0", 3, "orders", "C.2", 13, 3_840, 3_850, 3_860))
	}},
	{"turns", "one waits while another has it again and again", func(h *History) {
		h.Cell.Trips = []time.Duration{0, time.Millisecond, 0}
		h.End = 5_000 * ms
		h.Calls = append(h.Calls, had("w1.0", 8, "orders", "D", 14, 4_300, 4_310, 4_320))
		h.call("D").Invoke = 300 * ms
		for i := range int64(3) {
			at := 1_000 * (i + 1)
			h.Calls = append(h.Calls, had("w2.0", 2+i, "orders", fmt.Sprint("E", i), 11+i, at, at+10, at+20))
		}
	}},
	{"passing", "few holds are passed on where most are to be", func(h *History) {
		h.Cell.Passing = true
		h.Calls = append(h.Calls, had("w2.0", 2, "orders", "C", 12, 290, 300, 310), had("w2.0", 3, "orders", "C.2", 13, 300, 311, 320))
	}},
	{"sum", "a transfer is computed from what another has changed", func(h *History) {
		h.Cell.Transfer = true
		from := Access{At: 300 * ms, Name: "ann", Token: 1, Write: true, Base: 0, Value: -1, OK: true}
		to := Access{At: 300 * ms, Name: "bob", Token: 1, Write: true, Base: 1, Value: 2, OK: true}
		from.With = &to
		h.Store = append(h.Store[:0], from, to)
	}},
	{"leaders", "one is called to lead while another does", func(h *History) {
		h.elect()
		h.call("B").Return = 30 * ms
	}},
	{"leaders", "one owner leads twice at once", func(h *History) { h.Cell.Election = true }},
	{"leaders", "the leadership was given back before the leader had returned", func(h *History) {
		h.elect()
		a := h.call("A")
		a.Lost, a.Held, a.Unlock, a.Unlocked = 31*ms, 30*ms, 80*ms, 81*ms // and it was no loss
	}},
	{"queue", "a candidate stays in the queue after its context has ended", func(h *History) {
		h.queued()
		h.Calls[len(h.Calls)-1].Off = 400 * ms
	}},
	{"queue", "a candidate stays in the queue after it has returned", func(h *History) {
		h.queued()
		h.Calls[len(h.Calls)-1].Return = 400 * ms
	}},
	{"exclusion", "one writes while another reads", func(h *History) {
		h.share()
		h.call("B").Reads = false
		h.call("B").Token = 11
	}},
	{"tokens", "one reads with a token from before the last write", func(h *History) {
		h.share()
		h.call("A").Reads, h.call("A").Unlock = false, 20*ms
		h.call("B").Token = 9
	}},
	{"reading", "what one reads changes meanwhile", func(h *History) {
		h.share()
		read := Access{At: 40 * ms, Proc: "w0.0", Op: 1, Name: "shared", Token: 10, Value: 1, OK: true}
		again := read
		again.At, again.Value = 45*ms, 2
		h.Store = append(h.Store, read, again)
	}},
	{"reading", "one that reads is made to wait for itself", func(h *History) {
		h.share()
		h.Calls = append(h.Calls, &Call{Proc: "w0.0", Op: 8, Name: "shared", Within: 1, Upgrade: true, Invoke: 10 * ms, Return: 40 * ms, Err: "context deadline exceeded"})
	}},
	{"progress", "somebody waits to write while others read, and nobody ever does", func(h *History) {
		h.share()
		b := h.call("B")
		b.Deadline, b.Held, b.Unlock, b.Unlocked = 20_000*ms, 20_000*ms, 20_000*ms, 20_001*ms
		h.End = 20_000 * ms
		h.Calls = append(h.Calls, &Call{Proc: "w2.0", Op: 9, Name: "shared", Blocks: true, Invoke: 40 * ms})
	}},
	{"ghosts", "one that reads is on a node long after its process was killed", func(h *History) {
		h.share()
		h.Cell.Faults = []Kind{KillWorker}
		h.call("A").Hold = "w:1"
		h.killed["w0.0"] = 20 * ms
		h.End = 9_000 * ms
		h.Looks = append(h.Looks, looked(8_000, "shared", Sight{Hold: "w:1", Share: []string{"w:1"}}))
	}},
	{"stays", "a lock is granted before its minimum hold is over", func(h *History) { h.Cell.MinHold = time.Minute }},
	{"stays", "a lock does not rest after a crash", func(h *History) {
		h.Cell.Rested = time.Second
		h.killed["w0.0"] = 45 * ms
		a := h.call("A")
		a.Unlock, a.Unlocked, a.Deadline = 0, 0, 46*ms
	}},
	{"stays", "a lock does not rest after it could not be renewed", func(h *History) {
		h.Cell.Rested = time.Second
		h.call("A").lose(50, lock.ReasonNotRenewed)
	}},
	{"residue", "a key is left", func(h *History) { h.Left = []string{"n0 lock:{orders}"} }},
}

func TestEachCheckerFindsWhatItLooksFor(t *testing.T) {
	tried := make(map[string]bool)
	for _, d := range damages {
		t.Run(d.by+": "+d.what, func(t *testing.T) {
			h := good()
			d.do(h)
			require.Contains(t, found(h), d.by)
		})
		tried[d.by] = true
	}
	for _, c := range checkers {
		require.True(t, tried[c.name], "nothing shows that %q finds anything", c.name)
	}
}

func TestHistoriesThatOnlyLookBad(t *testing.T) {
	for what, do := range map[string]func(*History){
		"the holder was killed, and the lock granted after its TTL": func(h *History) {
			h.killed["w0.0"] = 45 * ms
			a := h.call("A")
			a.Unlock, a.Unlocked, a.Deadline = 0, 0, 46*ms
		},
		"the holder lost it before another had it": func(h *History) {
			a := h.call("A")
			a.Lost, a.Held, a.Unlock, a.Unlocked = 49*ms, 40*ms, 0, 0
			again := h.Calls[1]
			again.Unlock, again.Unlocked = 20*ms, 21*ms
		},
		"the worker was stopped until its lease was over": func(h *History) {
			c := h.call("F3")
			c.First = c.Return - 300*ms
			c.Deadline = c.First
			c.Held, c.Unlock, c.Unlocked, c.Lost = 0, 0, 0, c.Return
			h.away = []span{{"w2.0", 240 * ms, c.Return}}
		},
		"all nodes were flushed before another was granted the lock": func(h *History) {
			h.Cell.Faults = []Kind{FlushAll}
			h.Faults = []Fault{{Kind: FlushAll, Node: all, Worker: all, Began: 25 * ms, Ended: 26 * ms}}
			h.call("B").Return = 30 * ms
		},
		"a grant was under way when all nodes were flushed": func(h *History) {
			h.Cell.Faults = []Kind{FlushAll}
			h.Faults = []Fault{{Kind: FlushAll, Node: all, Worker: all, Began: 25 * ms, Ended: 26 * ms}}
			a, b := h.call("A"), h.call("B")
			h.Calls = []*Call{a, b}
			h.Looks, h.Store = nil, nil
			b.Start, b.Return = 27*ms, 28*ms
			a.Return, a.Held, a.Start, a.Token = 29*ms, 30*ms, 24*ms, 10
			a.First, a.Deadline = a.Start+a.TTL, a.Start+a.TTL
			h.sort()
		},
		"a lease is lost on the shard that is stuck, and so is one that is not renewed": func(h *History) {
			h.sharded()
			for _, hold := range []string{"F3", "B"} {
				c := h.call(hold)
				c.Lost, c.Unlock, c.Unlocked, c.Fixed = c.Unlock, 0, 0, hold == "B"
			}
		},
		"a lease was lost with a quorum": func(h *History) {
			h.call("B").lose(90, lock.ReasonNotRenewed)
			h.Faults = []Fault{
				{Kind: KillNode, Node: 0, Worker: all, Began: 10 * ms, Ended: 11 * ms},
				{Kind: StopNode, Node: 1, Worker: all, Began: 60 * ms, Ended: 61 * ms},
			}
		},
		"a node that forgot did not tell a release that the guard keeps it out": func(h *History) {
			h.forgetful("B", 200)
		},
		"a lease was lost as the machine was too busy for its process": func(h *History) {
			h.call("B").lose(90, lock.ReasonNotRenewed)
			h.asleep = []span{{"w1.0", 60 * ms, 80 * ms}}
			require.Len(t, check(h.rested()), 1)
		},
		"a lease was lost as the machine was too busy for the network": func(h *History) {
			h.call("B").lose(90, lock.ReasonNotRenewed)
			h.asleep = []span{{network, 60 * ms, 80 * ms}}
		},
		"a lease was lost as the machine was too busy for the servers": func(h *History) {
			h.call("B").lose(90, lock.ReasonNotRenewed)
			h.Looks[1].Nodes[0].OK, h.Looks[1].Nodes[2].OK = false, false
		},
		"a node has a hold whose process did not run": func(h *History) {
			for at := int64(300); at < 2400; at += 100 {
				h.Looks = append(h.Looks, looked(at, "orders", Sight{Hold: "B", Count: 1}))
			}
			h.asleep = []span{{"w1.0", 1_000 * ms, 1_500 * ms}}
		},
		"a process passed a name on to itself for long, as it was stopped": func(h *History) {
			h.Calls = append(h.Calls, had("w2.0", 2, "orders", "C", 12, 290, 300, 310), had("w2.0", 3, "orders", "C.2", 13, 3_840, 3_850, 3_860))
			h.away = []span{{"w2.0", 320 * ms, 3_840 * ms}}
			h.End = 4000 * ms
		},
		"a release came after the deadline": func(h *History) {
			b := h.call("B")
			b.Over, b.Deadline, b.Unlocked = lock.ReasonGone.String(), b.Unlock+5*ms, b.Unlock+200*ms
		},
		"the last hold of a reign is long": func(h *History) {
			last := had("w2.0", 3, "orders", "C.2", 13, 300, 311, 3_900)
			again := had("w2.0", 4, "orders", "C.2", 13, 3_840, 3_850, 3_860)
			again.Within, again.Count, last.Deadline = 3, 2, 4_000*ms
			h.Calls = append(h.Calls, had("w2.0", 2, "orders", "C", 12, 290, 300, 310), last, again)
			h.End = 4_100 * ms
		},
		"most holds were passed on": func(h *History) {
			h.Cell.Passing = true
			for i := range int64(7) {
				h.Calls = append(h.Calls, had("w2.0", 2+i, "orders", fmt.Sprintf("C.%d", 2+i), 12+i, 300+10*i, 301+10*i, 309+10*i))
			}
		},
		"a name is kept while its call waits for another one": func(h *History) {
			h.Cell.Transfer = true
			h.Store = nil
			waits := had("w0.0", 9, "orders", "w:10", 12, 300, 5_000, 5_010)
			waits.First, waits.Deadline, waits.Start = 5_800*ms, 5_800*ms, 4_900*ms
			h.Calls = append(h.Calls, waits)
			for at := int64(310); at < 5_000; at += 100 {
				h.Looks = append(h.Looks, looked(at, "orders", Sight{Hold: "w:9", Count: 1}))
			}
			h.End = 6_000 * ms
		},
		"a leader was away while it lost the leadership": func(h *History) {
			h.elect()
			a := h.call("A")
			a.Lost, a.Held, a.Over = 90*ms, 40*ms, lock.ReasonNotRenewed.String()
			a.Deadline, a.Unlock, a.Unlocked = 45*ms, 91*ms, 92*ms
			a.Failed = "lost"
			h.Faults = []Fault{{Kind: StopWorker, Worker: 0, Began: 30 * ms, Ended: 90 * ms}, {Kind: KillNode, Began: 30 * ms, Node: 0}, {Kind: KillNode, Began: 30 * ms, Node: 1}}
			h.away = []span{{"w0.0", 30 * ms, 90 * ms}}
		},
		"a candidate waits for long": func(h *History) { h.queued() },
		"a candidate that left was cut off": func(h *History) {
			h.queued()
			h.Calls[len(h.Calls)-1].Off = 400 * ms
			for node := range 3 {
				h.Faults = append(h.Faults, Fault{Kind: CutUp, Node: node, Worker: all, Began: 390 * ms, Ended: 4_000 * ms})
			}
		},
		"each was granted it when its minimum hold was over": func(h *History) {
			h.Cell.MinHold = 50 * time.Millisecond // which a re-entry does not prolong
			h.Calls = h.Calls[:3]
			h.Looks, h.Store = nil, nil
		},
		"who unlocked it before it was killed leaves no rest": func(h *History) {
			h.Cell.Rested = time.Second
			h.killed["w0.0"] = 51 * ms
			h.Calls = h.Calls[:3]
			h.Looks, h.Store = nil, nil
		},
		"a fixed lease was over": func(h *History) { h.call("B").lose(90, lock.ReasonExpired) },
		"who waits has no quorum": func(h *History) {
			h.Calls = append(h.Calls, &Call{Proc: "w2.0", Op: 2, Name: "orders", Blocks: true, Invoke: 300 * ms})
			h.Faults = []Fault{
				{Kind: StopNode, Node: 0, Worker: all, Began: 310 * ms},
				{Kind: StopNode, Node: 1, Worker: all, Began: 310 * ms},
			}
			h.End = 20_000 * ms
		},
	} {
		t.Run(what, func(t *testing.T) {
			h := good()
			do(h)
			require.Empty(t, check(h))
		})
	}
}

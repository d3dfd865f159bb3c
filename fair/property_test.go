package fair_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestWhateverHappensOrderAndExclusionHoldAndTheQueueDrains plays random moves of
// processes and nodes in virtual time, and holds what comes out against the promises: no
// two have the lock at once (I1), whoever has a place that a quorum keeps is not
// overtaken (I7), and once everyone has gone nothing is left (I5). See stage_test.go for
// what is held against them exactly.
func TestWhateverHappensOrderAndExclusionHoldAndTheQueueDrains(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		nodes := rapid.SampledFrom([]int{1, 3, 5}).Draw(rt, "nodes")
		play := rapid.SliceOfN(rapid.Custom(drawMove), 1, 16).Draw(rt, "moves")
		rapid.SyncTest(rt, func(rt *rapid.T) {
			s := newStage(t, rt, nodes)
			for _, m := range play {
				s.make(m)
			}
			s.finish()
		})
	})
}

// A move is one thing that happens.
type move struct {
	What string
	Who  int           // of the processes, waiters or nodes, as many as there are
	Time time.Duration // that it takes, or for which a node is slow
}

func (m move) String() string { return fmt.Sprintf("%s %d %v", m.What, m.Who, m.Time) }

// moves are as likely as they are often here.
var moves = []string{
	"come", "come", "come", "come", "come", "come", // a process calls Lock
	"unlock", "unlock", "unlock", // whoever has the lock
	"wait", "wait", "wait",
	"leave", "leave", // a waiter's context ends
	"crash", // a process is gone
	"cut",   // a process is cut off from all nodes, without a word
	"pause", // a node
	"silence",
	"slow",
	"kill",                 // a node, with its memory
	"heal", "heal", "heal", // a node, and all processes that are cut off
}

func drawMove(t *rapid.T) move {
	return move{
		What: rapid.SampledFrom(moves).Draw(t, "what"),
		Who:  rapid.IntRange(0, 4).Draw(t, "who"),
		Time: rapid.SampledFrom([]time.Duration{
			time.Millisecond, 20 * time.Millisecond, 120 * time.Millisecond, 250 * time.Millisecond,
			400 * time.Millisecond, beatDefault / 2, beatDefault * 5 / 4, 8 * time.Second,
		}).Draw(t, "time"),
	}
}

// Leader shows an election: three processes are candidates, and one of them leads at a time. The
// leader is killed in the middle of its work. The next one continues where the work stopped, and no
// former leader can spoil it: each term has a number, and the work accepts only the latest.
//
//	go run ./examples/leader
//	go run ./examples/leader -redis host1:6379,host2:6379,host3:6379
package main

import (
	"context"
	"strings"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/examples/internal/fleet"
	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
)

func main() {
	if !fleet.Join(campaign) {
		nodes.Main(3, watch)
	}
}

const electionName = "example:migration"

var candidates = []string{"ann", "bob", "cid"}

// killedAfter is the step after which the first leader is killed.
const killedAfter = "step 3"

func watch(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	locks, err := lock.NewClient(redis.Clients())
	if err != nil {
		return err
	}
	defer locks.Close()
	processes, err := fleet.New(ctx, redis.Clients())
	if err != nil {
		return err
	}
	defer processes.Close()
	if err := begin(ctx, redis.Clients()[0]); err != nil {
		return err
	}
	for _, c := range candidates {
		if err := processes.Start(c); err != nil {
			return err
		}
	}
	for {
		_, what, err := processes.Hear(tell)
		if err != nil {
			return err
		}
		if strings.HasSuffix(what, killedAfter) {
			break
		}
	}
	// A program that is not a candidate can ask who leads, too.
	term, err := election.New(locks, electionName, "").Leader(ctx)
	if err != nil {
		return err
	}
	if err := processes.Kill(term.Candidate); err != nil {
		return err
	}
	tell.Linef(term.Candidate, "is killed, without warning, in term %d", term.Token)
	if err := processes.HearAll(tell); err != nil {
		return err
	}
	return processes.Wait()
}

package main

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

// openRelay opens a baton with Holdfast's own scripts, which go-redis sends, on a goroutine
// for each node: what lies between it and baton is theirs, what lies between it and
// holdfast is the lock logic.
func openRelay(s site) (locker, error) {
	nodes := newClients(s)
	if err := loadScripts(nodes); err != nil {
		closeClients(nodes)
		return nil, err
	}
	var pipes []*relayPipe
	var joined sync.WaitGroup
	b := newBaton[lua.Call](func() {
		for _, p := range pipes {
			close(p.away)
		}
		joined.Wait()
		closeClients(nodes)
	})
	for _, n := range nodes {
		p := &relayPipe{node: n, away: make(chan relayed, maxAway)}
		joined.Go(p.run)
		pipes, b.pipes = append(pipes, p), append(b.pipes, p)
	}
	b.commands = func(name, id string) (acquire, release lua.Call) {
		keys, _ := lua.NewKeys("lock", name) // a bad name fails in the scripts
		return lua.Acquire{Keys: keys, Hold: id, TTL: s.ttl, Retention: 24 * time.Hour}.Call(),
			lua.Release{Keys: keys, Hold: id, Quiet: true}.Call()
	}
	b.quorum = len(nodes)/2 + 1
	return b, nil
}

// A relayPipe sends what it is given pipeline by pipeline.
type relayPipe struct {
	node redis.UniversalClient
	away chan relayed
}

// relayed is what goes in one pipeline.
type relayed struct {
	commands []lua.Call
	answers  []chan error
}

func (p *relayPipe) write(commands []lua.Call, answers ...chan error) {
	p.away <- relayed{commands, answers}
}

// run is a goroutine until the pipe is closed.
func (p *relayPipe) run() {
	ctx := context.Background()
	for r := range p.away {
		pipe := p.node.Pipeline()
		for _, c := range r.commands {
			_ = pipe.Process(ctx, c.Cmd(ctx))
		}
		commands, _ := pipe.Exec(ctx)
		for i, c := range commands {
			r.answers[i] <- c.Err()
		}
	}
}

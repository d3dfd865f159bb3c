package redlock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

const (
	// minBatch is the number of calls from which a batch costs the server less than the single
	// calls.
	minBatch = 4
	// askAgain is how long the answer whether batches work is considered valid.
	askAgain = time.Minute
)

// batching records whether calls to a node may share a command, all of whose keys must be on one
// server. In a Cluster they are not, nor behind a proxy that a client takes for a single server: a
// proxy that routes by the first key would run the other calls on the wrong server. So there are no
// batches until samples with many names were answered by the same server, one by one and as a
// batch. As another server may be behind that client one day, the question is repeated after a
// while, and after a connection broke.
type batching struct {
	samples []lua.Call
	works   atomic.Bool

	mu     sync.Mutex
	asking bool
	asked  time.Time // zero: not yet, or not since a connection broke
}

// due reports whether to ask now, if batches would help this many calls. A caller that gets true
// has to ask.
func (b *batching) due(calls int) bool {
	if calls < minBatch || len(b.samples) == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.asking || !b.asked.IsZero() && now.Sub(b.asked) < askAgain {
		return false
	}
	b.asking, b.asked = true, now
	return true
}

// ask finds out whether batches work. It borrows a connection for single commands: the one for
// pipelines is about to be needed, and opening another takes four round trips.
func (b *batching) ask(ctx context.Context, client *redis.Client) {
	conn := client.Conn()
	defer func() { _ = conn.Close() }() // it goes back into the pool
	cmds := make([]redis.Cmder, 0, len(b.samples)+1)
	for _, s := range b.samples {
		cmds = append(cmds, s.SourceCmd(ctx))
	}
	cmds = append(cmds, lua.Batch(b.samples).SourceCmd(ctx))
	send(ctx, conn, cmds)
	servers := make(map[string]bool)
	for _, cmd := range cmds {
		reply := cmd.(*lua.Cmd).Val()
		replies, several := reply.([]any)
		if !several {
			replies = []any{reply}
		}
		for _, r := range replies {
			id, _ := r.(string)
			servers[id] = true
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asking = false
	b.works.Store(len(servers) == 1 && !servers[""])
}

// failed records an error instead of a reply.
func (b *batching) failed(err error) {
	if isRefusal(err) {
		return
	}
	// The connection broke, or there was none.
	b.mu.Lock()
	defer b.mu.Unlock()
	b.works.Store(false)
	b.asked = time.Time{}
}

// pack makes commands of calls, batches where it may.
func pack(parcels []parcel, calls []lua.Call, batches bool) []parcel {
	for len(calls) > 0 {
		n := 0
		for batches && n < min(len(calls), lua.MaxBatch) && calls[n].Batched() {
			n++
		}
		if n >= minBatch {
			parcels = append(parcels, parcel{call: lua.Batch(calls[:n]), n: n})
		} else {
			n = max(n, 1)
			for _, c := range calls[:n] {
				parcels = append(parcels, parcel{call: c, n: 1})
			}
		}
		calls = calls[n:]
	}
	return parcels
}

// A parcel is one command: a call, or a batch of n.
type parcel struct {
	call lua.Call
	n    int
}

// open gives each call of p its result.
func (p parcel) open(results []result, cmd *lua.Cmd) {
	reply, err := cmd.Val(), cmd.Err()
	if p.n == 1 {
		results[0] = result{reply, p.call.Explain(err)}
		return
	}
	var replies []any
	if err == nil {
		replies, err = lua.ParseBatch(reply, p.n)
	}
	for i := range results {
		if results[i] = (result{err: err}); err == nil {
			results[i] = p.resultOf(replies[i])
		}
	}
}

func (p parcel) resultOf(reply any) result {
	if err, failed := reply.(error); failed {
		return result{err: p.call.Explain(err)}
	}
	return result{reply: reply}
}

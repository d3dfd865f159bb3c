package redlock

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lua"
)

// An exchange is what one pipeline carries to a node and back.
type exchange struct {
	calls   []lua.Call
	parcels []parcel
	cmds    []redis.Cmder // one for each parcel
	results []result      // one for each call
}

// A result is the result of a call: its reply or its error.
type result struct {
	reply any
	err   error
}

// run sends the calls by client, in batches if allowed.
func (x *exchange) run(ctx context.Context, client redis.UniversalClient, batches bool) {
	x.parcels = pack(x.parcels, x.calls, batches)
	for _, p := range x.parcels {
		x.cmds = append(x.cmds, p.call.Cmd(ctx))
	}
	send(ctx, client, x.cmds)
	x.resend(ctx, client)
	x.results = slices.Grow(x.results, len(x.calls))[:len(x.calls)]
	results := x.results
	for i, p := range x.parcels {
		p.open(results[:p.n], x.cmds[i].(*lua.Cmd))
		results = results[p.n:]
	}
}

// heard reports whether the node answered any of the calls.
func (x *exchange) heard() bool {
	return slices.ContainsFunc(x.results, func(r result) bool { return r.err == nil || isRefusal(r.err) })
}

// unpack sends the calls of refused batches one by one, if the batch was refused before it began,
// for a reason that may be one call's fault or does not apply to all of them.
func (x *exchange) unpack(ctx context.Context, client redis.UniversalClient) {
	var again exchange
	var places []int
	i := 0
	for j, p := range x.parcels {
		if p.n > 1 && isRefusedTogether(x.cmds[j].Err()) {
			for range p.n {
				again.calls, places = append(again.calls, x.calls[i]), append(places, i)
				i++
			}
		} else {
			i += p.n
		}
	}
	if places == nil {
		return
	}
	again.run(ctx, client, false)
	for j, i := range places {
		x.results[i] = again.results[j]
	}
}

// isRefusedTogether reports whether calls that were refused as a batch may be accepted one by one:
// a key belongs to another user or another server, or the server is full.
func isRefusedTogether(err error) bool {
	return isRefusal(err) && slices.ContainsFunc([]string{"NOPERM", "CROSSSLOT", "MOVED", "ASK", "OOM"}, func(prefix string) bool {
		return strings.HasPrefix(err.Error(), prefix)
	})
}

// isRefusal reports whether a server answered with this error.
func isRefusal(err error) bool {
	var refusal redis.Error
	return errors.As(err, &refusal)
}

// emptied is x with nothing in it, to be used again.
func (x *exchange) emptied() exchange {
	clear(x.calls)
	clear(x.parcels)
	clear(x.cmds)
	clear(x.results)
	return exchange{calls: x.calls[:0], parcels: x.parcels[:0], cmds: x.cmds[:0], results: x.results[:0]}
}

// resend sends by source the scripts that the server did not know by their hash: it did nothing for
// those.
func (x *exchange) resend(ctx context.Context, client redis.UniversalClient) {
	var unknown []int
	for i, cmd := range x.cmds {
		if lua.IsNoScript(cmd.Err()) {
			unknown = append(unknown, i)
		}
	}
	if unknown == nil {
		return
	}
	again := make([]redis.Cmder, len(unknown))
	for j, i := range unknown {
		again[j] = x.parcels[i].call.SourceCmd(ctx)
		x.cmds[i] = again[j]
	}
	send(ctx, client, again)
}

// asking puts an ASKING before each of cmds that needs one.
func asking(ctx context.Context, cmds []redis.Cmder) []redis.Cmder {
	if !slices.ContainsFunc(cmds, func(cmd redis.Cmder) bool { return cmd.(*lua.Cmd).Asking }) {
		return cmds
	}
	all := make([]redis.Cmder, 0, 2*len(cmds))
	for _, cmd := range cmds {
		if cmd.(*lua.Cmd).Asking {
			all = append(all, lua.NewCmd(ctx, "asking"))
		}
		all = append(all, cmd)
	}
	return all
}

// A pipeliner is a client, or a single connection of one.
type pipeliner interface{ Pipeline() redis.Pipeliner }

// send runs cmds in one round trip. Each command then contains its result.
func send(ctx context.Context, client pipeliner, cmds []redis.Cmder) {
	pipe := client.Pipeline()
	_ = pipe.BatchProcess(ctx, asking(ctx, cmds)...)
	_, err := pipe.Exec(ctx)
	for _, cmd := range cmds {
		// A pipeline that broke must not leave a command that looks answered.
		if c := cmd.(*lua.Cmd); err != nil && c.Err() == nil && c.Val() == nil {
			c.SetErr(err)
		}
	}
}

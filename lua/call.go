package lua

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// A Call is one run of a script, ready to be sent to any number of nodes. It is
// immutable and safe for concurrent use.
type Call struct {
	script *Script
	args   []any // EVALSHA's, whole
	asking bool
}

// Script tells which script c runs.
func (c Call) Script() *Script { return c.script }

// Key is the first key of c, which names the lock that c is about; empty if it has none.
func (c Call) Key() string {
	if len(c.args) < 4 || c.args[2].(int) == 0 {
		return ""
	}
	key, _ := c.args[3].(string)
	return key
}

func (c Call) keys() []any {
	if len(c.args) < 3 {
		return nil
	}
	return c.args[3 : 3+c.args[2].(int)]
}

func (c Call) argv() []any { return c.args[3+len(c.keys()):] }

// newCall lays out EVALSHA's arguments: the command, the hash, the number of keys,
// then the keys and ARGV, which the caller appends.
func newCall(script *Script, keys, argv int) []any {
	args := make([]any, 3, 3+keys+argv)
	args[0], args[1], args[2] = "evalsha", script.sha, keys
	return args
}

// Cmd makes the command that runs c by its hash. A server that does not know the
// hash answers NOSCRIPT and has done nothing; see [IsNoScript].
func (c Call) Cmd(ctx context.Context) *Cmd {
	return &Cmd{Cmd: *redis.NewCmd(ctx, c.args...), Asking: c.asking}
}

// SourceCmd makes the command that runs c by its source, which the server then knows by its hash.
func (c Call) SourceCmd(ctx context.Context) *Cmd {
	args := make([]any, len(c.args))
	copy(args, c.args)
	args[0], args[1] = "eval", c.script.Source
	return &Cmd{Cmd: *redis.NewCmd(ctx, args...), Asking: c.asking}
}

// Asking is c for a server of a Cluster that is only taking over the slot: it does so for a
// command behind ASKING.
func (c Call) Asking() Call {
	c.asking = true
	return c
}

// Run runs c on one client, or on a single connection of one, and returns its reply.
func (c Call) Run(ctx context.Context, client interface {
	Process(context.Context, redis.Cmder) error
}) (any, error) {
	cmd := c.Cmd(ctx)
	if err := client.Process(ctx, cmd); !IsNoScript(err) {
		return cmd.Val(), c.Explain(err)
	}
	cmd = c.SourceCmd(ctx)
	err := client.Process(ctx, cmd)
	return cmd.Val(), c.Explain(err)
}

// Cmd is a command that go-redis sends once. By default it sends a command again
// when its reply is late or lost; whether to try again is decided above, with a
// fresh look at the clock.
type Cmd struct {
	redis.Cmd
	Asking bool // it has to be sent right behind ASKING
}

// NoRetry tells go-redis to send the command once.
func (*Cmd) NoRetry() bool { return true }

// IsNoScript reports whether a server refused a call because it does not know the script's hash: it
// restarted, or its scripts were flushed.
func IsNoScript(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT")
}

// NewCmd makes any other command that is to be sent once.
func NewCmd(ctx context.Context, args ...any) *Cmd {
	return &Cmd{Cmd: *redis.NewCmd(ctx, args...)}
}

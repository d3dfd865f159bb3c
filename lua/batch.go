package lua

import (
	"github.com/redis/go-redis/v9"
)

var _ redis.Error = Failure("")

// MaxBatch is the maximum number of calls in a batch: enough to make the shared cost negligible,
// and few enough for a server to finish in about a millisecond.
const MaxBatch = 64

const (
	zero = '0' // in a plan
	// room is for the keys of a call, and for its arguments. What has more keeps a server
	// busy by itself.
	room = 32
)

// batched are the scripts that batch.lua has, in its order.
var batched = func() []string {
	var names []string
	for line := range lines("batch") {
		names = append(names, librariesOf(line)...)
	}
	return names
}()

// Batched tells whether c can be part of a batch.
func (c Call) Batched() bool {
	return c.script.batch > 0 && len(c.keys()) < room && len(c.argv()) < room
}

// Batch makes one call of several, each of them [Call.Batched]. A server needs two thirds
// to three quarters of the time for calls in a batch that it needs for them in a pipeline,
// and the network carries less. It runs them in their order, and nothing between them. The
// keys of all must live on one server, and not in a Cluster. Servers before Redis 7 refuse
// a batch.
func Batch(calls []Call) Call {
	keys, args := 0, 1
	for _, c := range calls {
		keys += len(c.keys())
		args += len(c.argv())
	}
	all := newCall(batchScript, keys, args)
	for _, c := range calls {
		all = append(all, c.keys()...)
	}
	plan := make([]byte, 0, 3*len(calls))
	all = append(all, nil)
	last := make([][]any, 1+len(batched)) // arguments of the last call of each script
	for _, c := range calls {
		argv, before := c.argv(), last[c.script.batch]
		last[c.script.batch] = argv
		n := len(argv)
		if given := differing(argv, before); given >= 0 {
			argv, n = argv[:given], given+room
		}
		all = append(all, argv...)
		plan = append(plan, zero+c.script.batch, zero+byte(len(c.keys())), zero+byte(n))
	}
	all[3+keys] = string(plan)
	return Call{script: batchScript, args: all}
}

// differing is how many arguments, from the first, are to be given after a call that had
// those of last: the others are the same. It is negative if all are to be given anew.
func differing(argv, last []any) int {
	if len(argv) != len(last) {
		return -1
	}
	n := len(argv)
	for n > 0 && argv[n-1] == last[n-1] {
		n--
	}
	return n
}

// ParseBatch reads a reply of batch.lua: n replies, with an error in place of the reply of each
// call that failed.
func ParseBatch(reply any, n int) ([]any, error) {
	replies, ok := reply.([]any)
	if !ok || len(replies) != n {
		return nil, &unexpected{batchScript, reply}
	}
	for i, r := range replies {
		if text, failed := failure(r); failed {
			replies[i] = text
		}
	}
	return replies, nil
}

// A Failure is an error that a server answered to a call in a batch.
type Failure string

func (f Failure) Error() string { return string(f) }

// RedisError makes it one of [redis.Error], as it would be without a batch.
func (Failure) RedisError() {}

// failure finds the error in {{error}}, which no script answers otherwise.
func failure(reply any) (Failure, bool) {
	if outer, ok := reply.([]any); ok && len(outer) == 1 {
		if inner, ok := outer[0].([]any); ok && len(inner) == 1 {
			text, ok := inner[0].(string)
			return Failure(text), ok
		}
	}
	return "", false
}

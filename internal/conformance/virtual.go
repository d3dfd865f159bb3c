package conformance

import (
	"testing"
	"testing/synctest"

	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
)

// A Fake stands in for Redis servers in tests.
type Fake interface {
	// Redis returns a client of each node. The Fake closes it.
	Redis() []redis.UniversalClient
	// NewClient makes a lock client.
	NewClient(opts ...lock.ClientOption) *lock.Client
}

// RunVirtual checks every rule on fakes of so many nodes, each in a bubble of its own: what a
// rule waits for takes no time. Commands must take some, or time stands still while several
// processes lock and unlock without end.
func RunVirtual(t *testing.T, kind Kind, nodes int, start func(t *testing.T, nodes int) Fake) {
	brief, lasting := kind.rules(nodes)
	runVirtual(t, kind, nodes, start, merge([]rules{brief, lasting}))
}

// RunVirtualQuorums is RunVirtual of those rules alone that one node does not have.
func RunVirtualQuorums(t *testing.T, kind Kind, nodes int, start func(t *testing.T, nodes int) Fake) {
	runVirtual(t, kind, nodes, start, quorums)
}

func runVirtual(t *testing.T, kind Kind, nodes int, start func(t *testing.T, nodes int) Fake, book rules) {
	check(t, 2, book, func(t *testing.T, rule func(*stage)) {
		synctest.Test(t, func(t *testing.T) {
			f := start(t, nodes)
			s := newStage(t, kind, nodesOf(f, nodes))
			s.make = func(_ []redis.UniversalClient, opts ...lock.ClientOption) (*lock.Client, error) {
				return f.NewClient(opts...), nil
			}
			rule(s)
		})
	})
}

func nodesOf(f Fake, n int) []*node {
	nodes := make([]*node, n)
	for i := range nodes {
		nodes[i] = newNode(func() redis.UniversalClient { return f.Redis()[i] })
	}
	return nodes
}

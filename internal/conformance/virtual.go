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

// RunFake is RunVirtual on one node and on three. The race detector makes the embedded nodes slow, and three cost about
// three times what one does. So under it three have those rules alone that one does not have; the others are the same but
// for the number of nodes.
func RunFake(t *testing.T, kind Kind, start func(t *testing.T, nodes int) Fake) {
	t.Run("one node", func(t *testing.T) { RunVirtual(t, kind, 1, start) })
	t.Run("three nodes", func(t *testing.T) {
		if race {
			runVirtual(t, kind, 3, start, quorums)
		} else {
			RunVirtual(t, kind, 3, start)
		}
	})
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

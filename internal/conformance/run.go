package conformance

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast-go/holdfast/lock"
)

// A Mutex is what every kind's type is.
type Mutex interface {
	lock.Locker
	lock.Inspector
}

// A Kind is one kind of lock, and what it can do beyond every Mutex.
type Kind struct {
	New func(c *lock.Client, name string, opts ...lock.Option) Mutex

	// Queues says that waiters stand in a queue on the nodes: Inspect shows it, and
	// they are served in its order.
	Queues bool

	// On names the deployments that the rules are checked on; nil: all of them.
	On []string

	// Rival, if it is not nil, says that holds of it leave room for others of it, and makes what
	// they leave no room for: that is what every client but the first one of a rule uses.
	Rival func(c *lock.Client, name string, opts ...lock.Option) Mutex
}

// From makes a [Kind]'s New of a package's.
func From[M Mutex](create func(*lock.Client, string, ...lock.Option) M) func(*lock.Client, string, ...lock.Option) Mutex {
	return func(c *lock.Client, name string, opts ...lock.Option) Mutex { return create(c, name, opts...) }
}

// Rules are checks by what they state.
type rules map[string]func(*stage)

// raced are the deployments that are left when the race detector watches. What may run beside what is the same on all of
// them, and with it a rule takes several times as long: so `make test` checks the rules on the others without it.
var raced = []string{"embedded", "five", "cluster"}

// left reports whether rules are checked on a deployment by this run: with the race detector on some, without it on all, or
// on the rest, if that is what is asked for.
func left(deployment string) bool {
	some := slices.Contains(raced, deployment)
	if race {
		return some
	}
	return !some || os.Getenv("HOLDFAST_RULES") != "rest"
}

// Run checks every rule on every deployment.
func Run(t *testing.T, kind Kind) {
	together(len(deployments), func(i int) {
		name := deployments[i].name
		if kind.On != nil && !slices.Contains(kind.On, name) || !left(name) {
			return
		}
		t.Run(name, func(t *testing.T) {
			nodes := deployments[i].start(t)
			brief, lasting := kind.rules(len(nodes))
			// Those that wait for time to pass need few turns of a processor, but each at
			// the right moment: not too many others may be at work.
			check := func(width int, book rules) func() {
				return func() {
					check(t, width, book, func(t *testing.T, rule func(*stage)) { rule(newStage(t, kind, nodes)) })
				}
			}
			both := []func(){check(2, brief), check(8, lasting)}
			together(len(both), func(i int) { both[i]() })
		})
	})
}

// check has each rule of a book checked, so many at once.
func check(t *testing.T, width int, book rules, each func(*testing.T, func(*stage))) {
	next := make(chan string, len(book))
	for _, rule := range slices.Sorted(maps.Keys(book)) {
		next <- rule
	}
	close(next)
	together(width, func(int) {
		for rule := range next {
			t.Run(rule, func(t *testing.T) { each(t, book[rule]) })
		}
	})
}

// together calls f with 0 to n-1, all at once. Parallel subtests would be as many at once
// as there are processors, and these mostly wait.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// rules are those that hold for this kind over so many nodes: those that take as long
// as the servers do, and those for which a TTL, or some of it, has to pass.
func (k Kind) rules(nodes int) (brief, lasting rules) {
	books := []rules{
		naming, ownership, reentry, contention, trying, waiting, giving, cancelling,
		forcing, tokens, inspecting, doing, closing, refusing,
	}
	if k.Queues {
		books = append(books, queueing)
	}
	if nodes > 1 {
		books = append(books, quorums)
	}
	if k.Rival != nil {
		books = append(books, sharing)
	}
	brief, lasting = merge(books), merge([]rules{contexts, losing, renewing, ending, options})
	if k.Rival != nil {
		for _, rule := range exclusive {
			delete(brief, rule)
		}
	}
	return brief, lasting
}

func merge(books []rules) rules {
	all := make(rules)
	for _, book := range books {
		for rule, check := range book {
			if all[rule] != nil {
				panic(fmt.Sprintf("two rules are called %s", rule))
			}
			all[rule] = check
		}
	}
	return all
}

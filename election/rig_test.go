package election_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/election"
	"github.com/holdfast-go/holdfast/internal/virtual"
	"github.com/holdfast-go/holdfast/lock"
)

var bg = context.Background()

// ttl is the lock's default. A leader that is not seen leads for that long at the most.
const ttl = 30 * time.Second

// A world is the nodes of one election in virtual time, in which commands take no time.
type world struct {
	t     *testing.T
	nodes []*virtual.Node

	mu      sync.Mutex
	leading string // who believes to lead, by its context
	terms   []election.Term
}

// inWorlds runs a test on one node and on five.
func inWorlds(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	for _, n := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d nodes", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, &world{t: t, nodes: virtual.StartN(t, n)}) })
		})
	}
}

// A candidate is a process of its own.
type candidate struct {
	*virtual.Host
	*election.Election
	world *world
	locks *lock.Client
	name  string
}

func (w *world) candidate(name string, opts ...lock.ClientOption) *candidate {
	w.t.Helper()
	h := virtual.NewHost(w.nodes)
	c, err := lock.NewClient(h.Clients(w.t), opts...)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = c.Close() }) // its error is for tests that are about Close
	synctest.Wait()
	return &candidate{Host: h, Election: election.New(c, "scheduler", name), world: w, locks: c, name: name}
}

// run has the candidate run, and returns when it stands in line or leads. The channel has Run's
// error.
func (c *candidate) run(ctx context.Context, lead func(context.Context, election.Term) error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, c.leads(lead)) }()
	synctest.Wait()
	return done
}

// leads has lead run as the only leader: nobody else may, from here until its context ends.
func (c *candidate) leads(lead func(context.Context, election.Term) error) func(context.Context, election.Term) error {
	w := c.world
	return func(ctx context.Context, term election.Term) error {
		w.mu.Lock()
		if w.leading != "" {
			w.t.Errorf("%s leads, and %s does", c.name, w.leading)
		}
		w.leading = c.name
		w.terms = append(w.terms, term)
		w.mu.Unlock()
		stop := context.AfterFunc(ctx, func() { w.leads("") })
		defer func() {
			if stop() {
				w.leads("")
			}
		}()
		return lead(ctx, term)
	}
}

func (w *world) leads(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leading = name
}

// requireTerms requires that those have led, in this order, and that terms were numbered so.
func (w *world) requireTerms(names ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var led []string
	for i, term := range w.terms {
		led = append(led, term.Candidate)
		if i > 0 {
			require.Greater(w.t, term.Token, w.terms[i-1].Token)
		}
	}
	require.Equal(w.t, names, led)
}

// follow leads until its context ends, which it must.
func follow(ctx context.Context, _ election.Term) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Hour):
		return errors.New("it leads on and on")
	}
}

// leadFor leads for d and resigns.
func leadFor(d time.Duration) func(context.Context, election.Term) error {
	return func(ctx context.Context, _ election.Term) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

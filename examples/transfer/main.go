// Transfer shows two locks that are taken together. Money is sent from ann to bob and from bob to
// ann at the same time, by two programs that each name the payer first. If the locks were taken in
// that order, each program would soon hold the account that the other one waits for. Package multi
// takes them in the order of their names, whatever order they are given in.
//
//	go run ./examples/transfer
//	go run ./examples/transfer -redis host1:6379,host2:6379,host3:6379
package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/examples/internal/nodes"
	"github.com/holdfast-go/holdfast/examples/internal/story"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/multi"
	"github.com/holdfast-go/holdfast/reentrant"
)

func main() { nodes.Main(1, transfer) }

const (
	each      = 100 // what either account begins with
	transfers = 50  // in each direction
	patience  = 30 * time.Second
)

func transfer(ctx context.Context, redis *nodes.Set, tell *story.Teller) error {
	// A deadlock would end here, and not go on for ever.
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	book := &accounts{balance: map[string]int{"ann": each, "bob": each}}

	var both sync.WaitGroup
	results := make(chan error, 2)
	for _, way := range [][2]string{{"ann", "bob"}, {"bob", "ann"}} {
		both.Go(func() { results <- pay(ctx, redis, book, way[0], way[1], tell) })
	}
	both.Wait()
	if err := errors.Join(<-results, <-results); err != nil {
		return err
	}
	tell.Linef("bank", "ann has %d, bob has %d: %d together", book.balance["ann"], book.balance["bob"], book.balance["ann"]+book.balance["bob"])
	if book.balance["ann"]+book.balance["bob"] != 2*each {
		return errors.New("money was made or lost")
	}
	return nil
}

// pay is one of the two programs: it sends 1 after the other.
func pay(ctx context.Context, redis *nodes.Set, book *accounts, from, to string, tell *story.Teller) error {
	locks, err := lock.NewClient(redis.Clients())
	if err != nil {
		return err
	}
	defer locks.Close()
	pair := multi.New(account(locks, from), account(locks, to)) // the payer first
	for range transfers {
		err := pair.Do(ctx, func(ctx context.Context) error { return book.move(ctx, locks, from, to, 1) })
		if err != nil {
			return err
		}
	}
	tell.Linef(from, "sent %d to %s, in %d transfers", transfers, to, transfers)
	return nil
}

func account(locks *lock.Client, name string) *reentrant.Mutex {
	return reentrant.New(locks, "account:"+name)
}

// accounts are what the locks protect: only the holder of an account's lock may read and write its
// balance. A database would hold them.
type accounts struct {
	mu      sync.Mutex // of the map, not of what is in it
	balance map[string]int
}

// move moves money between two accounts, which the caller has locked.
func (a *accounts) move(ctx context.Context, locks *lock.Client, from, to string, amount int) error {
	for account, change := range map[string]int{from: -amount, to: amount} {
		if err := a.change(ctx, locks, account, change); err != nil {
			return err
		}
	}
	return nil
}

// change takes the lock of the account, whether or not its caller has it: here it re-enters.
func (a *accounts) change(ctx context.Context, locks *lock.Client, name string, amount int) error {
	return account(locks, name).Do(ctx, func(ctx context.Context) error {
		balance := a.read(name)
		// Anybody else who read it by now would overwrite what this one writes.
		select {
		case <-time.After(100 * time.Microsecond):
		case <-ctx.Done():
			return fmt.Errorf("account %s: %w", name, context.Cause(ctx))
		}
		a.write(name, balance+amount)
		return nil
	})
}

func (a *accounts) read(name string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance[name]
}

func (a *accounts) write(name string, balance int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance[name] = balance
}

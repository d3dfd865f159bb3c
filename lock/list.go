package lock

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"

	"github.com/holdfast-go/holdfast/lua"
	"github.com/holdfast-go/holdfast/redlock"
)

const (
	// scanCount is how many keys a server looks at before it serves others: well below a millisecond.
	scanCount = 1000
	// maxInspected bounds the names of a page that are inspected at once.
	maxInspected = 64
)

// An Entry is one lock of a [List].
type Entry struct {
	Name  string `json:"name"`
	State State  `json:"state"`
}

// List returns the locks of c that are held or waited for and whose names match pattern, a glob as
// in Redis: "orders:*", or "" for all. A backslash makes the next character an ordinary one. A name
// that was given in braces, "{orders}", is the same as the one without, and is listed without. If more
// than one brace closes in it, it is listed as it stands in the key: "a}b" as "{a}b}". Each
// name comes once, in no particular order, with what [Inspector] tells about it. A lock that nobody
// holds is listed if somebody waits for it, or if the nodes' answers do not show whether it is held
// ([StatusUnknown]).
//
// List is for operators. Every server is asked for all of its keys by SCAN, about a thousand with
// each command. The names found are inspected together, 64 at once. So servers remain responsive,
// but have more work the more keys they have. Nodes know a waiter only if it stands in a queue, as
// the waiters of a fair lock do. A lock that is held from the first to the last step is listed; one
// that is taken, ends or, in a Cluster, moves meanwhile may be missed. The list keeps a hash of
// each listed name.
//
// An error is an item, too, and the list continues after it. The item has an empty Entry if a node,
// or one of the masters of a Cluster, could not be scanned, and an Entry with the name if that name
// could not be inspected. If a Cluster, or a Sentinel, does not tell which masters there are now, that is
// an error of the node, and the masters that have been used of late are scanned. If another server takes the
// place of the one that is being scanned, as after a failover, that is an error, too. As long as a quorum of
// nodes is scanned, no lock is missed, because each lock is on one of these nodes. Otherwise the last item
// is an [ErrNoQuorum]. The list ends early, with an item that says why, if pattern is refused, ctx ends, or
// c is closed. The loop may end the list at any time, and may use c.
func List(ctx context.Context, c *Client, pattern string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		g, err := newGlob(pattern)
		switch {
		case c == nil:
			err = errors.New("the client is nil")
		case err == nil:
			l := &list{client: c, pattern: g, told: make(map[[2]uint64]struct{}), yield: yield}
			l.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
			err = l.run(ctx)
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(Entry{}, fmt.Errorf("list: %w", err))
		}
	}
}

// errEnough says that the loop over a list was left.
var errEnough = errors.New("enough")

// A list is one run of List.
type list struct {
	client  *Client
	pattern glob
	yield   func(Entry, error) bool

	// told are the names that were told, by two hashes: a long name takes no more than a short
	// one, and that two have the same ones will not happen. That another node is to be asked
	// first for a name would take no memory, but miss a lock that a node has only
	// been given since it was scanned.
	told  map[[2]uint64]struct{}
	seeds [2]maphash.Seed
}

// run scans one node after the other. It returns what ends the list.
func (l *list) run(ctx context.Context) error {
	group := l.client.group
	match := literally(l.client.prefix) + ":*" // the brace of a name that has none itself
	if l.pattern != "*" {
		match += string(l.pattern) + "*" // the other brace, and the end of a companion
	}
	errs := make([]error, group.Size())
	for i := range errs {
		cursor := group.Scan(i, match, scanCount)
		for cursor.More() {
			keys, err := l.scan(ctx, cursor)
			switch {
			case ctx.Err() != nil:
				return contextError(ctx)
			case errors.Is(err, ErrClosed):
				return err
			case err != nil:
				errs[i] = errors.Join(errs[i], err)
				if !l.yield(Entry{}, fmt.Errorf("list: scan %s: %w", group.Address(i), err)) {
					return errEnough
				}
			}
			if err := l.tell(ctx, l.names(keys)); err != nil {
				return err
			}
		}
	}
	return group.Quorate("list", errs)
}

// scan makes a step. Close waits for that, and not for what the loop does with it.
func (l *list) scan(ctx context.Context, cursor *redlock.Cursor) ([]string, error) {
	if err := l.client.enter(); err != nil {
		return nil, err
	}
	defer l.client.leave()
	return cursor.Next(ctx)
}

// names are the locks that keys are of and that have not been told, each of them once.
func (l *list) names(keys []string) (names []string) {
	page := make(map[string]struct{})
	for _, key := range keys {
		name, ok := lua.NameOf(l.client.prefix, key)
		if !ok || !l.pattern.match(name) {
			continue
		}
		if _, told := l.told[l.hash(name)]; told {
			continue
		}
		if _, twice := page[name]; !twice {
			page[name] = struct{}{}
			names = append(names, name)
		}
	}
	return names
}

func (l *list) hash(name string) [2]uint64 {
	return [2]uint64{maphash.String(l.seeds[0], name), maphash.String(l.seeds[1], name)}
}

// tell inspects names and yields those that are not free by now. A free name is looked at again if
// another node has it, too: it may be locked by then.
func (l *list) tell(ctx context.Context, names []string) error {
	for len(names) > 0 {
		page := names[:min(len(names), maxInspected)]
		names = names[len(page):]
		entries, errs := l.inspect(ctx, page)
		for i, e := range entries {
			switch err := errs[i]; {
			case ctx.Err() != nil:
				return contextError(ctx)
			case errors.Is(err, ErrClosed):
				return ErrClosed
			case err == nil && e.State.Status == StatusFree && len(e.State.Waits) == 0:
				continue
			}
			l.told[l.hash(e.Name)] = struct{}{}
			if !l.yield(e, errs[i]) {
				return errEnough
			}
		}
	}
	return nil
}

// inspect looks at all names at once: their scripts leave together.
func (l *list) inspect(ctx context.Context, names []string) ([]Entry, []error) {
	entries, errs := make([]Entry, len(names)), make([]error, len(names))
	calls := make([]func(context.Context), len(names))
	for i, name := range names {
		entries[i].Name = name
		calls[i] = func(ctx context.Context) {
			entries[i].State, errs[i] = newEngine(l.client, nil, name, nil).Inspect(ctx)
		}
	}
	Together(ctx, calls...)
	return entries, errs
}

package readwrite_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/readwrite"
)

// connect stands for what a program does once, at its start. Here the server is an
// embedded one.
func connect() (locks *lock.Client, disconnect func()) {
	server, err := miniredis.Run()
	if err != nil {
		log.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
	locks, err = lock.NewClient([]redis.UniversalClient{rdb})
	if err != nil {
		log.Fatal(err)
	}
	return locks, func() { _ = locks.Close(); _ = rdb.Close(); server.Close() }
}

func ExampleMutex_RLock() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()

	config := readwrite.New(locks, "config")
	first, err := config.RLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	second, err := config.RLock(ctx) // others may read, too
	fmt.Println("second reader:", err)
	_, err = config.TryLock(ctx)
	fmt.Println("somebody may write:", !errors.Is(err, lock.ErrLocked))
	_, _ = first.Unlock(ctx), second.Unlock(ctx)
	// Output:
	// second reader: <nil>
	// somebody may write: false
}

// Who has written may go on reading, and let others read, without a gap in which somebody else writes.
func ExampleMutex_downgrade() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()

	config := readwrite.New(locks, "config")
	writing, err := config.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	reading, err := config.RLock(writing.Context(ctx)) // of the same owner
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("end writing:", writing.Unlock(ctx))
	_, err = config.TryLock(ctx)
	fmt.Println("somebody else may write:", !errors.Is(err, lock.ErrLocked))
	fmt.Println("still reading:", reading.Err() == nil, reading.Unlock(ctx))
	// Output:
	// end writing: <nil>
	// somebody else may write: false
	// still reading: true <nil>
}

// Who only reads cannot write: two that did so would wait for each other for ever.
func ExampleMutex_Lock_upgrade() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()

	config := readwrite.New(locks, "config")
	reading, err := config.RLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = config.Lock(reading.Context(ctx))
	fmt.Println("refused at once:", errors.Is(err, lock.ErrUpgrade))

	// It stops to read first. Somebody else may write in between, so it reads again.
	_ = reading.Unlock(ctx)
	writing, err := config.Lock(ctx)
	fmt.Println("now:", err, writing.Unlock(ctx))
	// Output:
	// refused at once: true
	// now: <nil> <nil>
}

// A replica remembers the greatest token that it has seen, and so knows of a reader that is late: one
// that was paused while it read, and began before the last write that the replica knows of.
type replica struct {
	newest int64
	text   string
}

func (r *replica) write(token int64, text string) error {
	if token < r.newest {
		return fmt.Errorf("late: token %d, and %d has written", token, r.newest)
	}
	r.newest, r.text = token, text
	return nil
}

func (r *replica) read(token int64) (string, error) {
	if token < r.newest {
		return "", errors.New("late: somebody has written since this reader began")
	}
	return r.text, nil
}

// The token of who reads is that of who wrote last: the resource can refuse a reader that is older than a write that
// it has seen.
func ExampleMutex_RLock_token() {
	locks, disconnect := connect()
	defer disconnect()
	ctx := context.Background()
	config := readwrite.New(locks, "config")
	var store replica

	write := func(text string) {
		_ = config.Do(ctx, func(ctx context.Context) error {
			lease, _ := lock.FromContext(ctx)
			return store.write(lease.Token(), text)
		})
	}
	write("one")
	paused, err := config.RLock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	text, err := store.read(paused.Token())
	fmt.Println(text, err)

	// Its process stops for longer than its TTL, so its lease ends, and somebody writes meanwhile.
	_, _ = config.ForceUnlock(ctx)
	write("two")
	_, err = store.read(paused.Token())
	fmt.Println(err)
	// Output:
	// one <nil>
	// late: somebody has written since this reader began
}

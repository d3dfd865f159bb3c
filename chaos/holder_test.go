package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
	"github.com/holdfast-go/holdfast/lock"
	"github.com/holdfast-go/holdfast/reentrant"
)

// holderEnv tells a process to be a holder that is stopped.
const holderEnv = "CHAOS_HOLDER"

type holderConfig struct {
	Addrs []string
	Store string
}

// What a holder found when it ran again: each before it did anything else.
type holderReport struct {
	Token   int64
	Lost    bool // by Lease.Err
	Over    bool // by the context, with the cause
	Written bool // the store took its write all the same
}

// scratchFor is a directory with a path that is short enough for a socket's.
func scratchFor(t *testing.T) string {
	dir := scratch("test")
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// beHolder is the holder's process: it takes the lock, says so, and when it is told to
// go on, looks whether it still has it.
func beHolder() bool {
	text, ok := os.LookupEnv(holderEnv)
	if !ok {
		return false
	}
	var cfg holderConfig
	if err := errors.Join(json.Unmarshal([]byte(text), &cfg), hold(cfg)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func hold(cfg holderConfig) error {
	out := json.NewEncoder(os.Stdout)
	nodes := make([]redis.UniversalClient, len(cfg.Addrs))
	for i, addr := range cfg.Addrs {
		nodes[i] = redis.NewClient(&redis.Options{Addr: addr})
	}
	locks, err := lock.NewClient(nodes, lock.WithTTL(stageTTL), lock.WithNodeTimeout(stageNodeTimeout))
	if err != nil {
		return err
	}
	lease, err := reentrant.New(locks, "orders").Lock(context.Background())
	if err != nil {
		return err
	}
	ctx := lease.Context(context.Background())
	stores := newStoreClient(cfg.Store)
	value, _ := stores.read("orders", lease.Token(), "holder", 1)
	if err := out.Encode(holderReport{Token: lease.Token()}); err != nil {
		return err
	}
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	r := holderReport{Token: lease.Token()}
	r.Over = ctx.Err() != nil && errors.Is(context.Cause(ctx), lock.ErrLost)
	r.Lost = errors.Is(lease.Err(), lock.ErrLost)
	// What one does that looks at nothing.
	r.Written = stores.write("orders", lease.Token(), value, value+1, "holder", 1)
	return out.Encode(r)
}

func TestAHolderThatWasStoppedFindsItsLeaseOver(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 3} {
		servers := redistest.StartN(t, n)
		socket := filepath.Join(scratchFor(t), "store")
		s, err := newStore(socket)
		require.NoError(t, err)
		t.Cleanup(s.close)

		cfg, err := json.Marshal(holderConfig{Addrs: redistest.Addrs(servers), Store: socket})
		require.NoError(t, err)
		self, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), holderEnv+"="+string(cfg))
		cmd.Stderr = os.Stderr
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		in, stdout, err := os.Pipe()
		require.NoError(t, err)
		defer in.Close()
		cmd.Stdout = stdout
		holder, err := start(cmd)
		require.NoError(t, err)
		t.Cleanup(holder.kill)
		require.NoError(t, stdout.Close())

		said := json.NewDecoder(in)
		var before, after holderReport
		require.NoError(t, said.Decode(&before))
		holder.pause()
		_, err = io.WriteString(stdin, "go on\n") // the first that it sees when it runs again
		require.NoError(t, err)

		locks, err := lock.NewClient(redistest.Clients(t, servers),
			lock.WithTTL(stageTTL), lock.WithNodeTimeout(stageNodeTimeout))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), stagePatience)
		next, err := reentrant.New(locks, "orders").Lock(ctx)
		require.NoError(t, err)
		require.Greater(t, next.Token(), before.Token)
		mine := newStoreClient(socket)
		value, ok := mine.read("orders", next.Token(), "next", 1)
		require.True(t, ok)
		holder.signal(syscall.SIGCONT)
		require.NoError(t, said.Decode(&after))
		require.True(t, mine.write("orders", next.Token(), value, value+1, "next", 1))

		require.True(t, after.Lost, "by the lease")
		require.True(t, after.Over, "by the context")
		require.False(t, after.Written, "the store has seen a greater token")
		require.Equal(t, before.Token, after.Token)
		require.NoError(t, next.Unlock(ctx))
		cancel()
		require.NoError(t, locks.Close())
		<-holder.done
		require.NoError(t, holder.err)
	}
}

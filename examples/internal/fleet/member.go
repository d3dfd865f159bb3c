package fleet

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// memberWord is the first argument of a program that is a member. The name and the addresses of
// the nodes follow.
const memberWord = "member"

// A Member is what one process of a fleet does. What it prints is told under its name if the line
// begins with that.
type Member func(ctx context.Context, name string, nodes []redis.UniversalClient) error

// Join is the main function of a member: it does what member does and returns true, if this
// process is one.
func Join(member Member) bool {
	args := os.Args
	if len(args) != 4 || args[1] != memberWord {
		return false
	}
	logging.Disable() // should the nodes end before it does
	// Whoever started it keeps its input open.
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var nodes []redis.UniversalClient
	for address := range strings.SplitSeq(args[3], ",") {
		nodes = append(nodes, redis.NewClient(&redis.Options{Addr: address}))
	}
	if err := member(ctx, args[2], nodes); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", args[2], err)
		os.Exit(1)
	}
	return true
}

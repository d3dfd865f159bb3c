package nodes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/redis/go-redis/v9/logging"

	"github.com/holdfast-go/holdfast/examples/internal/story"
)

// An Example is the part of a program that one reads.
type Example func(ctx context.Context, set *Set, tell *story.Teller) error

// Main is the main function of an example that needs so many nodes.
func Main(embedded int, example Example) {
	ctx := context.Background()
	// go-redis reports each failed dial to stderr. Here they are part of the show.
	logging.Disable()
	switch err := execute(ctx, os.Args, embedded, example, os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func execute(ctx context.Context, args []string, embedded int, example Example, out, help io.Writer) error {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard) // what is wrong is told once, by Main
	redis := flags.String("redis", "", "run on these servers, `host:port,...`, not on embedded ones")
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(help)
		flags.Usage()
		return err
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: servers are named by -redis", flags.Arg(0))
	}
	set, err := open(*redis, embedded)
	if err != nil {
		return err
	}
	defer set.Close()
	tell := story.New(out)
	tell.Textf("On %v.", set)
	return example(ctx, set, tell)
}

func open(addresses string, embedded int) (*Set, error) {
	if addresses == "" {
		return Embed(embedded)
	}
	list := strings.Split(addresses, ",")
	for i, a := range list {
		if list[i] = strings.TrimSpace(a); list[i] == "" {
			return nil, fmt.Errorf("-redis %s: address %d is empty", addresses, i+1)
		}
	}
	return Connect(list), nil
}

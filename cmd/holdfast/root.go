package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// An app is what all commands share: the flags of every command.
type app struct {
	servers string
	prefix  string
	guard   time.Duration
	json    bool
	verbose bool

	clustered bool // a server that was given is a Cluster
	parsed    bool // the command line made sense to cobra
	stdout    sink
	stderr    *teller
}

// execute runs the command line and returns the exit code.
func execute(args []string) int {
	a := &app{stdout: sink{to: os.Stdout}, stderr: newTeller(os.Stderr)}
	defer a.stderr.flush()
	root := a.root()
	strict(root)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err != nil && !a.parsed && a.stdout.err == nil { // with --version, the output is all that can fail
		err = exit(exitUsage, err)
	}
	if a.stdout.err != nil && isSilent(err) {
		err = exit(max(codeOf(err), exitFailed), a.stdout.err)
	}
	a.complain(err)
	return codeOf(err)
}

// isSilent reports whether there is nothing to say about err.
func isSilent(err error) bool {
	var e *exitError
	return err == nil || errors.As(err, &e) && e.err == nil
}

// complain tells the user what went wrong, if there is something to say.
func (a *app) complain(err error) {
	switch {
	case isSilent(err):
	case a.json:
		line, _ := json.Marshal(map[string]any{"event": "error", "error": err.Error(), "exitCode": codeOf(err)})
		fmt.Fprintf(a.stderr, "%s\n", line)
	case !a.parsed:
		fmt.Fprintln(a.stderr, "holdfast:", err) // suggestions have lines of their own
	default:
		fmt.Fprintln(a.stderr, "holdfast:", oneLine(err.Error()))
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "holdfast",
		Short: "Run commands under distributed locks on Redis, and see who has which lock",
		Long: `Run commands under distributed locks on Redis, and see who has which lock.

Servers come from --redis or HOLDFAST_REDIS, separated by commas. Each URL is one node; with several,
a majority of them must agree, so they must be independent of each other:

    redis://host:6379/0                                       one server
    redis://a:6379,redis://b:6379,redis://c:6379              three independent servers
    rediss://user:password@host:6380                          with TLS
    unix:///run/redis.sock?db=1                               over a Unix socket
    redis+sentinel://s1:26379?master_name=main&addr=s2:26379  the master that Sentinels know
    redis+cluster://c1:6379?addr=c2:6379                      a Redis Cluster, which is one node

The last two take the parameters of go-redis' ParseFailoverURL and ParseClusterURL, and exist with
rediss, too. The user and password in a Sentinel URL are for the Sentinels; username= and password=
are for the servers. Percent-encode special characters: a comma in a password is %2C.

Parameters for TLS: cacert=, cert= and key=, files like those of redis-cli's options of the same names; sni=, the name
in the certificate if it differs from the host; and skip_verify=true, which does not check certificates.

Put a password into HOLDFAST_REDIS and not on the command line, where every user of the machine can
see it. It never appears in what holdfast prints.`,
		Example: `  export HOLDFAST_REDIS=redis://localhost:6379
  holdfast run nightly-export -- ./export --all
  holdfast list
  holdfast doctor`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.parsed = true
			if cmd.Flags().Changed("redis") && a.servers == "" {
				return usagef("--redis is empty") // a variable that is not set, perhaps: not the wish for the default
			}
			return nil
		},
	}
	root.SetOut(&a.stdout)
	root.SetErr(os.Stderr)
	root.DisableAutoGenTag = true
	f := root.PersistentFlags()
	// No default here: help would show the password in HOLDFAST_REDIS.
	f.StringVar(&a.servers, "redis", "", "URLs of the servers, separated by commas (HOLDFAST_REDIS, else redis://localhost:6379)")
	f.StringVar(&a.prefix, "prefix", "lock", "the prefix of every key")
	f.DurationVar(&a.guard, "restart-guard", 0, "a server that started less than this ago grants nothing; at least as long as any lock's key can live")
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "report on stderr what happens")
	root.AddCommand(a.runCommand(), a.electCommand(), a.statusCommand(), a.listCommand(), a.topCommand(),
		a.waitCommand(), a.unlockCommand(), a.doctorCommand(), manCommand())
	return root
}

// version is that of the module, as the Go command has noted it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

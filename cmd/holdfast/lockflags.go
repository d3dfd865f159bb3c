package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast/lock"
)

const (
	defaultTTL = 30 * time.Second
	maxLabel   = 128 // bytes, see lock.WithLabel
	// retention is for how long fencing counters are kept, which must outlive every lock: see lock.WithTokenRetention.
	retention = 24 * time.Hour
	// maxDuration is the longest time that any option of the library may have.
	maxDuration = 10 * 365 * 24 * time.Hour
)

// lockFlags are what run and elect have in common: how the lock lives, and what ends with it.
type lockFlags struct {
	ttl     time.Duration
	grace   time.Duration
	maxHold time.Duration
	label   string
	shell   string

	hasGrace, hasMaxHold, hasLabel, hasShell bool
}

func (f *lockFlags) add(flags *pflag.FlagSet) {
	flags.DurationVar(&f.ttl, "ttl", defaultTTL, "how long a crashed holder blocks the lock, which is renewed every third of this time; less than 24h")
	flags.DurationVar(&f.grace, "grace", 0, "time from SIGTERM to SIGKILL when the lock is lost, at most 2/5 of the TTL (default a third of the TTL, at most 10s)")
	flags.DurationVar(&f.maxHold, "max-hold", 0, "stop renewing after this time; the command is then ended within one TTL")
	flags.StringVar(&f.label, "label", "", "a text that tells others who has the lock (default host/process command)")
	flags.StringVarP(&f.shell, "shell", "c", "", "run this script by /bin/sh, with ARGS as $1, $2, …")
}

// check completes the flags, and refuses those that make no sense.
func (f *lockFlags) check(flags *pflag.FlagSet, guard time.Duration) error {
	f.hasGrace, f.hasMaxHold, f.hasLabel, f.hasShell = flags.Changed("grace"), flags.Changed("max-hold"), flags.Changed("label"), flags.Changed("shell")
	if !f.hasGrace {
		f.grace = defaultGrace(f.ttl)
	}
	if f.hasMaxHold && f.maxHold <= 0 {
		return usagef("--max-hold %v must be positive", f.maxHold)
	}
	switch {
	case len(f.label) > maxLabel:
		return usagef("--label has %d bytes, it may have %d at most", len(f.label), maxLabel)
	case !utf8.ValidString(f.label) || printable(f.label) != f.label:
		return usagef("--label %q cannot be printed", f.label)
	case f.ttl >= retention:
		return usagef("--ttl %v is too long: it must be less than %v, for which fencing tokens are counted", f.ttl, retention)
	case guard > 0 && f.ttl > guard:
		return usagef("--ttl %v is longer than --restart-guard %v: a server that restarted could grant a lock that is held", f.ttl, guard)
	}
	return checkGrace(f.ttl, f.grace)
}

// words are the command's, or the shell's. verb is run or elect.
func (f *lockFlags) words(verb string, args []string) ([]string, error) {
	if f.hasShell {
		return append([]string{"/bin/sh", "-c", f.shell, "sh"}, args...), nil
	}
	if len(args) == 0 {
		return nil, usagef("the command is missing: give it after --, as in `holdfast %s NAME -- CMD ARGS`", verb)
	}
	return args, nil
}

// client are the options of a client whose locks are held for a command.
func (f *lockFlags) client(words []string) []lock.ClientOption {
	label := f.label
	if !f.hasLabel {
		label = f.defaultLabel(words)
	}
	return []lock.ClientOption{lock.WithLabel(label), lock.WithTTL(f.ttl)} // the latter is compared with --restart-guard
}

// options are those of the lock.
func (f *lockFlags) options() []lock.Option {
	options := []lock.Option{lock.WithTTL(f.ttl)}
	if f.maxHold > 0 {
		options = append(options, lock.WithMaxHold(f.maxHold))
	}
	return options
}

// defaultLabel is the library's, with the command in place of holdfast, and what a shell begins with in place of the shell.
func (f *lockFlags) defaultLabel(words []string) string {
	if f.hasShell {
		words = strings.Fields(f.shell)
	}
	host, _ := os.Hostname() // "" says nothing, and nothing depends on it
	name := ""
	if len(words) > 0 {
		name = filepath.Base(words[0])
	}
	label := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.TrimSpace(fmt.Sprintf("%s/%d %s", host, os.Getpid(), name)))
	for len(label) > maxLabel {
		r := []rune(label)
		label = string(r[:len(r)-1])
	}
	return label
}

// permits reads n/k.
func permits(text string) (take, of int, err error) {
	n, k, ok := strings.Cut(text, "/")
	if ok {
		take, err = strconv.Atoi(n)
		if err == nil {
			of, err = strconv.Atoi(k)
		}
	}
	if !ok || err != nil || take < 1 || of < take {
		return 0, 0, usagef("--permits %q is not n/k, as in 1/5: one of five permits", text)
	}
	return take, of, nil
}

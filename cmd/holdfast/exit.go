package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/holdfast-go/holdfast/lock"
)

// Exit codes. Those above 1 are from sysexits.h, or what a shell uses.
const (
	exitFailed     = 1   // something else went wrong, or doctor found something
	exitUsage      = 64  // EX_USAGE
	exitNoQuorum   = 69  // EX_UNAVAILABLE: too few servers answered
	exitLost       = 70  // EX_SOFTWARE: the lock was lost while the command ran
	exitConflict   = 75  // EX_TEMPFAIL: others have the lock
	exitCannotRun  = 126 // the command was found, but cannot be executed
	exitNotFound   = 127 // the command was not found
	exitSignalBase = 128 // plus the signal's number
)

// runCodes is the part of the help of run that lists them.
const runCodes = commonCodes + `       70  the lock was lost while the command ran, and the command was ended
       75  others have the lock (--conflict-exit-code sets another)
`

// electCodes is that of elect, where a loss is followed by another candidacy.
const electCodes = commonCodes + `       70  the leadership was lost when a signal had asked the command to end, or before it ended by itself
`

const commonCodes = `Exit codes:

    0-255  the command's own code
    128+n  if signal n ended the command, or the wait for the lock
      126  the command cannot be executed
      127  the command was not found
       64  the command line is invalid, or the name is in use as another kind of lock
       69  too few servers answered (no quorum)
`

// An exitError is an error with the code to exit with.
type exitError struct {
	code int
	err  error // nil: there is nothing to say
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func exit(code int, err error) error { return &exitError{code, err} }

// usagef is a command line that makes no sense.
func usagef(format string, args ...any) error {
	return exit(exitUsage, fmt.Errorf(format, args...))
}

// bySignal is the exit of what a signal ended.
func bySignal(s syscall.Signal, err error) error { return exit(exitSignalBase+int(s), err) }

// codeOf is the code to exit with after err.
func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.code
	case errors.Is(err, lock.ErrNoQuorum):
		return exitNoQuorum
	case errors.Is(err, lock.ErrLocked), errors.Is(err, context.DeadlineExceeded):
		return exitConflict
	case errors.Is(err, lock.ErrKind):
		return exitUsage
	default:
		return exitFailed
	}
}

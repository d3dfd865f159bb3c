package lua

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// An UnknownCommandError says that a server does not have a command that locks need: it was
// renamed, perhaps.
type UnknownCommandError struct {
	Command string
	Err     error // what the server answered
}

func (e *UnknownCommandError) Error() string {
	return fmt.Sprintf("the server does not have the command %s: %v", e.Command, e.Err)
}

// Unwrap returns what the server answered.
func (e *UnknownCommandError) Unwrap() error { return e.Err }

var (
	unknownCommand = regexp.MustCompile(`(?i)unknown (redis )?command.*user_script: ?(\d+)|user_script: ?(\d+):.*unknown (redis )?command`)
	namedCommand   = regexp.MustCompile(`unknown command '?(\w+)`)
	calledCommand  = regexp.MustCompile(`redis\.p?call\('(\w+)'`)
)

// Explain names the command in an error of c about one that the server does not have. Out
// of a script, the server tells only the line.
func (c Call) Explain(err error) error {
	if err == nil {
		return nil
	}
	if m := namedCommand.FindStringSubmatch(err.Error()); m != nil {
		return &UnknownCommandError{Command: m[1], Err: err}
	}
	m := unknownCommand.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	number, _ := strconv.Atoi(m[2] + m[3])
	lines := strings.Split(c.script.Source, "\n")
	if number < 1 || number > len(lines) {
		return err
	}
	called := calledCommand.FindStringSubmatch(lines[number-1])
	if called == nil {
		return err
	}
	return &UnknownCommandError{Command: called[1], Err: err}
}

package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// frame is one RESP2 or RESP3 value.
type frame struct {
	raw   []byte // as received; only set on the outermost value
	kind  byte   // the type byte; 0 for an inline command
	text  string // of every type without elements
	elems []frame
}

var errProtocol = errors.New("redistest: malformed RESP")

// readFrame reads one value. A first byte that is no type byte begins an inline
// command, which is returned as an array of its words.
func readFrame(r *bufio.Reader) (frame, error) {
	var raw []byte
	f, err := parseFrame(r, &raw)
	f.raw = raw
	return f, err
}

func parseFrame(r *bufio.Reader, raw *[]byte) (frame, error) {
	line, err := r.ReadBytes('\n')
	*raw = append(*raw, line...)
	if err != nil {
		return frame{}, err
	}
	body := strings.TrimRight(string(line), "\r\n")
	if body == "" {
		return frame{}, nil // an empty inline command, which servers ignore
	}
	f := frame{kind: body[0], text: body[1:]}
	switch f.kind {
	case '+', '-', ':', '_', ',', '#', '(':
		return f, nil
	case '$', '=', '!':
		n, err := strconv.Atoi(f.text)
		if err != nil {
			return f, fmt.Errorf("%w: %q", errProtocol, line)
		}
		if n < 0 {
			f.text = ""
			return f, nil
		}
		start := len(*raw)
		*raw = append(*raw, make([]byte, n+2)...)
		if _, err := io.ReadFull(r, (*raw)[start:]); err != nil {
			return f, err
		}
		f.text = string((*raw)[start : start+n])
		return f, nil
	case '*', '~', '>', '%', '|':
		n, err := strconv.Atoi(f.text)
		if err != nil {
			return f, fmt.Errorf("%w: %q", errProtocol, line)
		}
		if f.kind == '%' || f.kind == '|' {
			n *= 2
		}
		for range max(n, 0) {
			e, err := parseFrame(r, raw)
			if err != nil {
				return f, err
			}
			f.elems = append(f.elems, e)
		}
		if f.kind == '|' {
			// Attributes precede the value they describe and are no reply themselves.
			return parseFrame(r, raw)
		}
		return f, nil
	}
	f = frame{}
	for _, word := range strings.Fields(body) {
		f.elems = append(f.elems, frame{kind: '$', text: word})
	}
	return f, nil
}

// command returns the frame as a command, its name in upper case.
func (f frame) command() []string {
	cmd := make([]string, len(f.elems))
	for i, e := range f.elems {
		cmd[i] = e.text
	}
	if len(cmd) > 0 {
		cmd[0] = strings.ToUpper(cmd[0])
	}
	return cmd
}

// appendCommand appends the request for cmd.
func appendCommand(b []byte, cmd ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(cmd))
	for _, arg := range cmd {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b
}

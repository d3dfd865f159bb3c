package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	maxUntold = 256         // lines that wait to be written
	lastWords = time.Second // how long the end waits for a reader that is slow
)

// A teller writes to stderr on a goroutine of its own. Whoever reads there may have stopped reading, and a signal
// that is due must not wait for that. What finds the queue full is dropped.
//
// It is safe for concurrent use. The goroutine ends with flush, or with the process.
type teller struct {
	lines chan []byte
	over  chan struct{} // closed when all is written
}

func newTeller(out io.Writer) *teller {
	t := &teller{lines: make(chan []byte, maxUntold), over: make(chan struct{})}
	go func() {
		defer close(t.over)
		for line := range t.lines {
			if line == nil {
				return
			}
			_, _ = out.Write(line) // there is nowhere else to tell of it
		}
	}()
	return t
}

// Write never blocks, and never fails.
func (t *teller) Write(line []byte) (int, error) {
	if len(line) > 0 {
		select {
		case t.lines <- append([]byte(nil), line...):
		default:
		}
	}
	return len(line), nil
}

// flush writes what is left, for as long as lastWords. Nothing is written after it.
func (t *teller) flush() {
	late := time.NewTimer(lastWords)
	defer late.Stop()
	select {
	case t.lines <- nil:
	case <-late.C:
		return
	}
	select {
	case <-t.over:
	case <-late.C:
	}
}

// outlivePipes has writes to a stderr that nobody reads fail, where they would end this process: in the middle of a
// loss, that would leave nobody to send SIGKILL. The signal is caught and not ignored, as the command would inherit
// that.
func outlivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

package virtual

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// A stream is one direction of a connection. It takes everything at once, as the
// buffers of a network do, and gives it to its one reader when it is due.
type stream struct {
	mu     sync.Mutex
	chunks []chunk
	ended  bool          // the writer has closed it
	more   chan struct{} // one slot: chunks or ended have changed
}

type chunk struct {
	data []byte
	due  time.Time
}

func newStream() *stream { return &stream{more: make(chan struct{}, 1)} }

func (s *stream) write(data []byte, due time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return io.ErrClosedPipe
	}
	if n := len(s.chunks); n > 0 && s.chunks[n-1].due.After(due) {
		due = s.chunks[n-1].due // nothing overtakes on one connection
	}
	s.chunks = append(s.chunks, chunk{append([]byte(nil), data...), due})
	s.nudge()
	return nil
}

// end has the reader find io.EOF after what was written.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.nudge()
}

// isOver reports whether the writer has closed it and nothing is left to read.
func (s *stream) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended && len(s.chunks) == 0
}

func (s *stream) nudge() {
	select {
	case s.more <- struct{}{}:
	default: // it is about to look anyway
	}
}

// take reads what is due. Without that it returns 0, and how long it takes for more to
// be; zero: that is not known.
func (s *stream) take(p []byte) (n int, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chunks) == 0 {
		if s.ended {
			return 0, 0, io.EOF
		}
		return 0, 0, nil
	}
	first := &s.chunks[0]
	if wait := time.Until(first.due); wait > 0 {
		return 0, wait, nil
	}
	n = copy(p, first.data)
	if first.data = first.data[n:]; len(first.data) == 0 {
		s.chunks = s.chunks[1:]
	}
	return n, 0, nil
}

// read waits until something is due, closed is closed, or the deadline has come.
func (s *stream) read(p []byte, closed <-chan struct{}, deadline *deadline) (int, error) {
	for {
		late := deadline.wait()
		select {
		case <-closed:
			return 0, net.ErrClosed
		case <-late:
			return 0, os.ErrDeadlineExceeded
		default:
		}
		n, wait, err := s.take(p)
		if n > 0 || err != nil {
			return n, err
		}
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case <-s.more:
		case <-due:
		case <-closed:
		case <-late:
		}
	}
}

// A deadline is a date after which reads fail.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	late  chan struct{} // closed once the date has come
}

func newDeadline() *deadline { return &deadline{late: make(chan struct{})} }

// wait returns a channel that is closed once the date has come.
func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.late
}

// set replaces the date; a zero time is none. Like that of a pipe it concerns the
// reads that begin later, and ends one that waits by an earlier date.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	select {
	case <-d.late:
		d.late = make(chan struct{})
	default:
	}
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if left <= 0 {
		close(d.late)
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(left, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.timer == timer { // it was not replaced while this was on its way
			d.timer = nil
			close(d.late)
		}
	})
	d.timer = timer
}

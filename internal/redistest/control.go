package redistest

import (
	"syscall"
	"time"
)

const stopWithin = 15 * time.Second

// Kill ends the process without warning (SIGKILL), paused or not, and returns
// when it is gone. It does nothing to a server that is down.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
	s.paused = false
}

// Stop asks the process to shut down (SIGTERM) and returns when it is gone. The
// data is saved only if the server was started with a "--save" of its own. A paused
// server is resumed, since it could not obey.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.signal(syscall.SIGTERM)
	s.proc.signal(syscall.SIGCONT)
	s.paused = false
	select {
	case <-s.proc.done:
	case <-time.After(stopWithin):
		s.errorf("did not stop within %v", stopWithin)
		s.proc.kill()
	}
}

// Pause freezes the process (SIGSTOP): connections stay open and are even
// accepted, nothing is answered. It returns when no thread runs any more. What
// clients send meanwhile is executed after [Server.Resume].
func (s *Server) Pause() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if !s.proc.signal(syscall.SIGSTOP) {
		s.errorf("pause: the server is down")
		return
	}
	s.paused = true
	if !poll(stopWithin, func() bool { return s.proc.exited() || stopped(s.proc.pid()) }) {
		s.errorf("did not pause within %v", stopWithin)
	}
}

// Running tells whether the server is up and not paused.
func (s *Server) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.proc.exited() && !s.paused
}

// Resume lets a paused process run on. It does nothing to one that runs or is
// down.
func (s *Server) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused {
		s.proc.signal(syscall.SIGCONT)
		s.paused = false
	}
}

// Restart kills the process if it runs, and starts it again with the same port,
// directory and arguments. It returns when the server answers.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
	s.start()
}

// Start starts a server that is down again, with the same port, directory and
// arguments. It returns when the server answers, and does nothing if it is up.
func (s *Server) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc.exited() {
		s.start()
	}
}

func (s *Server) start() {
	if s.closed {
		return
	}
	if err := s.relaunch(); err != nil {
		s.errorf("start again: %v", err)
	}
}

// errorf fails the test without ending it, because the caller may be on another
// goroutine, and keeps quiet after its end, when reporting would panic.
func (s *Server) errorf(format string, args ...any) {
	if !s.closed {
		s.t.Errorf("redistest: server "+s.Addr()+": "+format, args...)
	}
}

package main

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// address is the key under which callers find the service.
const address = "billing-api:url"

// A service serves no more than limit at once.
type service struct {
	server *http.Server
	done   chan struct{}

	mu                    sync.Mutex
	busy                  int
	served, most, refused int
}

// open starts a service on this machine.
func open(ctx context.Context, store redis.UniversalClient) (*service, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{done: make(chan struct{})}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(listener)
	}()
	return s, store.Set(ctx, address, "http://"+listener.Addr().String(), time.Minute).Err()
}

func (s *service) close() {
	_ = s.server.Close()
	<-s.done
}

// count returns how many calls the service has served, the maximum at once, and how many it turned
// away.
func (s *service) count() (served, most, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served, s.most, s.refused
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		http.Error(w, "too many", http.StatusTooManyRequests)
		return
	}
	takes := 30 * time.Millisecond
	if r.URL.RawQuery == "forever" {
		takes = time.Minute
	}
	select {
	case <-time.After(takes):
	case <-r.Context().Done(): // the caller is gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if r.Context().Err() == nil {
		s.served++
	}
}

func (s *service) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy == limit {
		s.refused++
		return false
	}
	s.busy++
	s.most = max(s.most, s.busy)
	return true
}

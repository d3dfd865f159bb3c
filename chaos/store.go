package main

import (
	"bufio"
	"encoding/json"
	"net"
	"sync"
)

// An Access is one question to the fenced store, and its answer. The store admits who
// brings the greatest token that it has seen, or a greater one.
type Access struct {
	At    int64
	Proc  string
	Op    int64
	Name  string
	Token int64
	Write bool
	Base  int64   // Write: the value that it was computed from
	Value int64   // what was written, or read
	OK    bool    // admitted
	With  *Access `json:",omitempty"` // of another name: both are admitted, or neither
}

// A store holds a number for each lock. It runs in the driver, which no fault hits.
type store struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu     sync.Mutex
	values map[string]int64
	fences map[string]int64
	log    []Access
	conns  map[net.Conn]struct{}
}

func newStore(socket string) (*store, error) {
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	s := &store{
		listener: l,
		values:   make(map[string]int64),
		fences:   make(map[string]int64),
		conns:    make(map[net.Conn]struct{}),
	}
	s.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[conn] = struct{}{}
			s.mu.Unlock()
			s.serving.Go(func() { s.serve(conn) })
		}
	})
	return s, nil
}

func (s *store) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	in, out := json.NewDecoder(bufio.NewReader(conn)), json.NewEncoder(conn)
	for {
		var a Access
		if in.Decode(&a) != nil || out.Encode(s.admit(a)) != nil {
			return
		}
	}
}

// admit answers one question.
func (s *store) admit(a Access) Access {
	s.mu.Lock()
	defer s.mu.Unlock()
	both := []*Access{&a}
	if a.With != nil {
		both = append(both, a.With)
	}
	ok := true
	for _, a := range both {
		a.At = now()
		ok = ok && a.Token >= s.fences[a.Name]
	}
	for _, a := range both {
		if a.OK = ok; ok {
			// A read raises the fence too: what was read must not be overtaken by a lesser
			// token before it is written back.
			s.fences[a.Name] = a.Token
			if a.Write {
				s.values[a.Name] = a.Value
			} else {
				a.Value = s.values[a.Name]
			}
		}
		s.log = append(s.log, *a)
	}
	return a
}

func (s *store) accesses() []Access {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log[:len(s.log):len(s.log)]
}

func (s *store) close() {
	s.listener.Close()
	s.mu.Lock()
	for conn := range s.conns {
		conn.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

// A storeClient asks the store. Each goroutine of a worker shares the one connection,
// since answers take microseconds.
type storeClient struct {
	mu   sync.Mutex
	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
}

func newStoreClient(socket string) *storeClient {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		panic(err) // the driver is there before its workers
	}
	return &storeClient{conn: conn, in: json.NewDecoder(bufio.NewReader(conn)), out: json.NewEncoder(conn)}
}

func (c *storeClient) ask(a Access) Access {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out.Encode(a) != nil {
		return Access{}
	}
	var answer Access
	if c.in.Decode(&answer) != nil {
		return Access{}
	}
	return answer
}

func (c *storeClient) read(name string, token int64, proc string, op int64) (int64, bool) {
	a := c.ask(Access{Name: name, Token: token, Proc: proc, Op: op})
	return a.Value, a.OK
}

func (c *storeClient) write(name string, token, base, value int64, proc string, op int64) bool {
	return c.ask(Access{Name: name, Token: token, Write: true, Base: base, Value: value, Proc: proc, Op: op}).OK
}

package main

import "sync"

// A journal records what the job has done: a row in its database.
type journal struct {
	mu   sync.Mutex // what a database would see to; the lock holds across programs
	last int
	runs int
}

// begin reports whether slot still has to be done, and records that it is being done.
func (j *journal) begin(slot int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if slot <= j.last {
		return false
	}
	j.last = slot
	j.runs++
	return true
}

// has tells whether slot was begun.
func (j *journal) has(slot int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slot <= j.last
}

package main

import "sync"

// A journal is where the job notes what it has done: a row in its database.
type journal struct {
	mu   sync.Mutex // what a database would see to; the lock holds across programs
	last int
	runs int
}

// begin tells whether slot is still to be done, and notes that it is being.
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

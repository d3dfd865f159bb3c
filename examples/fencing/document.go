package main

import (
	"errors"
	"fmt"
	"sync"
)

var errStale = errors.New("stale token")

// A document is the resource that the lock protects. It takes the token with each
// write and refuses one that is less than the greatest it has seen. The check and the
// write are one step; in a database that is
//
//	UPDATE documents SET text = $1, token = $2 WHERE id = $3 AND token <= $2
type document struct {
	mu    sync.Mutex
	token int64
	text  string
}

func (d *document) write(token int64, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if token < d.token {
		return fmt.Errorf("%w: %d, seen %d", errStale, token, d.token)
	}
	d.token, d.text = token, text
	return nil
}

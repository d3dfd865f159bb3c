package main

import (
	"errors"
	"fmt"
	"sync"
)

var errStale = errors.New("stale token")

// A document is the resource that the lock protects. It remembers the greatest token it has seen,
// and refuses smaller ones.
//
// A holder claims the document before it reads, not only when it writes. If only writes were
// checked, an older holder that wakes up could still write between a newer holder's read and write,
// and the newer holder would overwrite that without having seen it.
//
// Each method is one step. In a database, in one transaction each:
//
//	claim:  UPDATE documents SET token = $1 WHERE id = $2 AND token <= $1 RETURNING text
//	write:  UPDATE documents SET text = $1 WHERE id = $2 AND token = $3
//
// No row means that the token is stale.
type document struct {
	mu    sync.Mutex
	token int64
	text  string
}

// claim shuts out all holders before this one, and reads.
func (d *document) claim(token int64) (text string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if token < d.token {
		return "", d.stale(token)
	}
	d.token = token
	return d.text, nil
}

// write stores the text if the holder with this token has claimed the document.
func (d *document) write(token int64, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if token != d.token {
		return d.stale(token)
	}
	d.text = text
	return nil
}

func (d *document) stale(token int64) error {
	return fmt.Errorf("%w: %d, claimed with %d", errStale, token, d.token)
}

// Package story prints what happens in an example: who did what, and when.
package story

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A Teller prints lines in the order in which they are told. It is safe for concurrent
// use. The zero value is not usable; use [New].
type Teller struct {
	began time.Time

	mu  sync.Mutex
	out io.Writer
}

// New makes a teller whose clock starts now.
func New(out io.Writer) *Teller { return &Teller{began: time.Now(), out: out} }

// Linef tells what who did, after how many seconds.
func (t *Teller) Linef(who, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.print("%6.3fs  %-7s %s\n", time.Since(t.began).Seconds(), who, fmt.Sprintf(format, args...))
}

// Textf tells something that nobody did.
func (t *Teller) Textf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.print(format+"\n", args...)
}

func (t *Teller) print(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format, args...) // without an audience the show goes on
}

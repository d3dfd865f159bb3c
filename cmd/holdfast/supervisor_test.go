package main

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/lock"
)

// A script is a lease whose fate the test writes.
type script struct {
	mu       sync.Mutex
	deadline time.Time
	err      error
	done     chan struct{}
}

func (l *script) ID() string            { return "id" }
func (l *script) Token() int64          { return 1 }
func (l *script) Done() <-chan struct{} { return l.done }

func (l *script) Deadline() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deadline
}

func (l *script) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *script) renew(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = until
}

func (l *script) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = &lock.LeaseError{Reason: lock.ReasonGone}
	close(l.done)
}

// A dummy is a target that notes what it is sent, and is gone after so many SIGKILLs.
type dummy struct {
	began time.Time
	lives int
	err   error
	sent  []string
	gone  chan struct{}
}

func (d *dummy) over() <-chan struct{}         { return d.gone }
func (d *dummy) signal(s syscall.Signal) error { return d.end(s) }

func (d *dummy) end(s syscall.Signal) error {
	d.sent = append(d.sent, fmt.Sprintf("%v %d", time.Since(d.began), int(s)))
	if s == syscall.SIGKILL {
		if d.lives--; d.lives == 0 {
			close(d.gone)
		}
	}
	return d.err
}

// A holdfast that was paused between the grant and its command has no lock any more.
func TestNothingBeginsWithoutTheLock(t *testing.T) {
	l := &script{deadline: time.Now(), done: make(chan struct{})}
	l.lose()
	out := new(bytes.Buffer)
	r := &runner{flags: new(lockFlags), words: []string{"sh", "-c", "exit 3"}, path: "/bin/sh", events: &events{name: "x", json: true, out: out}}
	lost, code, err := r.run(&grant{lease: l, name: "x"})
	require.NoError(t, err)
	require.ErrorIs(t, lost, l.err)
	require.Zero(t, code, "the command has not run")
	require.False(t, r.began)
	require.Contains(t, out.String(), `{"event":"lost","name":"x","reason":"gone"`)
}

// The keys expire at the deadline at the earliest. SIGTERM comes a grace and a margin before that, SIGKILL a margin, and
// again until all is gone. Time stands still meanwhile, so a busy machine makes no difference.
func TestGroupIsEndedBeforeTheDeadline(t *testing.T) {
	const ttl, grace = 4 * time.Second, time.Second
	for name, c := range map[string]struct {
		fate func(began time.Time, l *script)
		want []string // when, and which signal
		why  string
	}{
		"not renewed": {func(time.Time, *script) {}, []string{"2.6s 15", "2.6s 18", "3.6s 9", "3.62s 9"}, errNotRenewed.Error()},
		"renewed, and then not": {func(began time.Time, l *script) {
			time.Sleep(2 * time.Second)
			l.renew(began.Add(6 * time.Second))
		}, []string{"4.6s 15", "4.6s 18", "5.6s 9", "5.62s 9"}, errNotRenewed.Error()},
		"gone": {func(_ time.Time, l *script) {
			time.Sleep(time.Second)
			l.lose()
		}, []string{"1s 15", "1s 18", "2s 9", "2.02s 9"}, lock.ReasonGone.String()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				l := &script{deadline: began.Add(ttl), done: make(chan struct{})}
				d := &dummy{began: began, lives: 2, gone: make(chan struct{})}
				var told bytes.Buffer
				s := &supervisor{
					lease: l, group: d, grace: grace, margin: margin(ttl), caught: make(chan os.Signal), events: &events{name: "x", out: &told},
				}
				go c.fate(began, l)
				require.ErrorContains(t, s.run(), c.why)
				require.Equal(t, c.want, d.sent)
				require.Empty(t, told.String())
			})
		})
	}
}

// A process of another user's is told of, once.
func TestPartThatCannotBeSentSignalsIsToldOf(t *testing.T) {
	for want, err := range map[string]error{
		`holdfast: lock "x": a part of the command cannot be sent signals: process 42: operation not permitted`: &partError{42},
		`holdfast: lock "x": the command cannot be sent signals: operation not permitted`:                       syscall.EPERM,
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			l := &script{deadline: began.Add(4 * time.Second), done: make(chan struct{})}
			d := &dummy{began: began, lives: 3, err: err, gone: make(chan struct{})}
			var told bytes.Buffer
			s := &supervisor{
				lease: l, group: d, margin: margin(4 * time.Second), caught: make(chan os.Signal), events: &events{name: "x", out: &told},
			}
			require.ErrorIs(t, s.run(), errNotRenewed)
			require.Equal(t, want+"\n", told.String(), "in one line, and not once for each signal")
		})
	}
}

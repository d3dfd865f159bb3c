package main

import (
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A busy machine may be late to let a worker go on that is to be stopped again.
func TestAWorkerIsStoppedAgainOnceItGoesOn(t *testing.T) {
	t.Parallel()
	p, err := start(exec.Command("sleep", "600"))
	require.NoError(t, err)
	defer p.kill()
	r := &Run{crew: []*hand{{proc: p}}, posts: make([]sync.Mutex, 1)}
	var faults sync.WaitGroup
	stop := func(goOn <-chan struct{}) (stopped chan struct{}) {
		stopped = make(chan struct{})
		faults.Go(func() {
			_ = r.stopWorker(&Fault{Kind: StopWorker}, func() { close(stopped); <-goOn })
		})
		return stopped
	}
	late := make(chan struct{})
	<-stop(late)
	again := stop(late)
	require.Never(t, func() bool { return closed(again) }, 100*time.Millisecond, 10*time.Millisecond)
	close(late)
	if !assert.Eventually(t, func() bool { return closed(again) }, time.Minute, time.Millisecond) {
		p.kill() // it would be waited for without end
	}
	faults.Wait()
	require.Len(t, r.away, 2)
}

// A busy machine may be late to start a node that is to be killed again: upon one another, kills would leave it no time.
func TestAFaultOfANodeIsLeftOutWhileThereIsAnother(t *testing.T) {
	t.Parallel()
	p, err := start(exec.Command("sleep", "600"))
	require.NoError(t, err)
	defer p.kill()
	n := &node{proc: p}
	r := &Run{nodes: []*node{n}, active: make(map[*Fault]struct{}), start: time.Now()}
	n.fault.Lock()
	for _, kind := range []Kind{KillNode, StopNode} {
		r.inject(Fault{Kind: kind}, nil)
	}
	require.Empty(t, r.faults)
	require.False(t, p.gone())

	n.fault.Unlock()
	r.inject(Fault{Kind: StopNode}, nil)
	require.Len(t, r.faults, 1)
	require.True(t, n.fault.TryLock(), "it is over")
}

package locktest

import (
	"testing/synctest"
	"time"
)

// Advance lets d pass in the test's bubble. It returns when every goroutine has done what was due
// by then: renewals, losses, expiries and the program's reactions. Outside a bubble it ends the
// test, because real time cannot be moved.
func (f *Fake) Advance(d time.Duration) {
	f.t.Helper()
	f.needBubble("Advance(" + d.String() + ")")
	time.Sleep(d)
	synctest.Wait()
}

// settle lets goroutines in a bubble come to rest before connections go dead. On a new Pub/Sub
// connection, go-redis says hello to the server under a mutex. If the answer were lost, other
// goroutines would wait for the mutex. That stops a bubble's clock, so the hello would never time
// out.
func (f *Fake) settle() {
	if f.bubble {
		synctest.Wait()
	}
}

// needBubble ends the test unless it runs in a bubble.
func (f *Fake) needBubble(call string) {
	f.t.Helper()
	if !f.bubble {
		f.t.Fatalf("locktest: %s needs time to pass, and real time cannot be moved: "+
			"run the test in a bubble, synctest.Test(t, func(t *testing.T) { ... }), and call New in it", call)
	}
}

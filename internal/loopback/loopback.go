// Package loopback gives out addresses of this machine that nobody else is likely to use,
// so that a port which is closed for a while is nobody else's meanwhile: a client would
// find a stranger there, whose locks are free.
package loopback

import (
	"fmt"
	"math/rand/v2"
	"runtime"
)

// Own is one of many addresses where the system has all of 127.0.0.0/8 without being told,
// and 127.0.0.1 elsewhere.
func Own() string { return own(runtime.GOOS) }

func own(goos string) string {
	if goos != "linux" {
		return "127.0.0.1"
	}
	return fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
}

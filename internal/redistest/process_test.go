package redistest

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/holdfast-go/holdfast/internal/redisbin"
)

// running reports whether there is such a process. One that this process has started is reaped when it ends.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

const victimEnv = "REDISTEST_VICTIM"

// beVictim starts a server, tells its pid and waits to be killed.
func beVictim() {
	port, err := freePort()
	if err != nil {
		panic(err)
	}
	proc, err := startProcess(os.TempDir(), os.Stderr, redisbin.Name(), "--port", strconv.Itoa(port), "--bind", host, "--save", "")
	if err != nil {
		panic(err)
	}
	fmt.Println(proc.pid())
	<-proc.done
}

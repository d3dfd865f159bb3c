package redistest

import (
	"fmt"
	"os"
	"strconv"

	"github.com/holdfast-go/holdfast/internal/redisbin"
)

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

package redistest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const victimEnv = "REDISTEST_VICTIM"

// beVictim starts a server, tells its pid and waits to be killed.
func beVictim() {
	port, err := freePort()
	if err != nil {
		panic(err)
	}
	proc, err := startProcess(os.TempDir(), os.Stderr, binary, "--port", strconv.Itoa(port), "--bind", host, "--save", "")
	if err != nil {
		panic(err)
	}
	fmt.Println(proc.pid())
	<-proc.done
}

func TestServerDiesWithAKilledTestBinary(t *testing.T) {
	Require(t)
	if runtime.GOOS != "linux" {
		t.Skip("left out, as only Linux has a parent-death signal: a server that is started here dies with a test binary that was killed")
	}
	victim := exec.Command(os.Args[0], "-test.run=^$")
	victim.Env = append(os.Environ(), victimEnv+"=1")
	out, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, 0), "the server runs")

	require.NoError(t, victim.Process.Kill())
	_ = victim.Wait()

	Eventually(t, 5*time.Second, func() bool { return !running(pid) }, "process %d dies with its parent", pid)
}

// running counts a zombie as gone: whether it is reaped is up to the system's
// init.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

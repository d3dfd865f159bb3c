package redistest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only Linux has a signal for the death of a parent.
func TestServerDiesWithAKilledTestBinary(t *testing.T) {
	Require(t)
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

	Eventually(t, within, func() bool { return !running(pid) || isZombie(pid) }, "process %d dies with its parent", pid)
}

// isZombie reports whether a process has ended and is not reaped, which is up to the system's init.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && (strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X"))
}

//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// together has cmd and all that it starts end together if its context ends: `go test` would leave test binaries behind, and
// they their servers.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

//go:build !linux

package redistest

import "syscall"

// No parent-death signal here: a test binary that is killed leaves its servers
// behind.
func sysProcAttr() *syscall.SysProcAttr { return nil }

// Without /proc a signal that was sent must count as one that was acted upon.
func stopped(int) bool { return true }

//go:build unix && !linux

package main

import "syscall"

// attributes puts the command into a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// adoptOrphans does nothing: init waits for them.
func adoptOrphans() map[int]string { return nil }

// lives is as far as kill can tell.
func (g *group) lives() bool { return true }

// spared cannot tell.
func (g *group) spared() error { return nil }

// strays are not known.
func (g *group) strays() []int { return nil }

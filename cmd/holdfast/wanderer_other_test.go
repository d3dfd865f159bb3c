//go:build !linux

package main

func beWanderer() bool { return false }
